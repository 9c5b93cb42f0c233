import type { ModeName } from './modes.ts';

/** A rule of the protocol, and the change that removes it. `mode`: a world in which that is noticed. */
export type Mutant = readonly [rule: string, from: string, to: string, mode: ModeName];

/** By the file in `src/gate`. */
export const mutants: Readonly<Record<string, readonly Mutant[]>> = {
  'detached/steps.ts': [
    ['A gate begins only if the hub has it.', "['register', ", '[', 'nothing fails'],
    [
      'The hub has a gate before its pending status.',
      "'register', 'pend'",
      "'pend', 'register'",
      'two gates of a commit, a job is killed',
    ],
    ['The commit status is pending before a run is created.', "'pend', ", '', 'nothing fails'],
    [
      'A gate that was replaced before its pending status creates no run.',
      "'confirm', ",
      '',
      'two gates of a commit',
    ],
    ['A gate tells the ones that it replaces.', ", 'replace']", ']', 'two commits of a pull request'],
    ['A job that ends hands its gate over.', "waiting: ['release']", 'waiting: []', 'nothing fails'],
    [
      'No newer gate begins while an older one decides.',
      "ended: ['decide', ",
      'ended: [',
      'two gates of a commit',
    ],
    ['A gate leaves the status of somebody else alone.', "'look', ", '', 'somebody sets the status'],
    [
      'A gate looks at its status when no newer gate can begin.',
      "'decide', 'look'",
      "'look', 'decide'",
      'somebody sets the status',
    ],
    ['A gate that has ended sets its status.', "'set', ", '', 'nothing fails'],
    [
      'A gate sets its status only while no newer one can begin.',
      "'decide', 'look', 'set'",
      "'set', 'decide', 'look'",
      'two gates of a commit',
    ],
    ['The hub starts no job after the status was set.', ", 'finish']", ']', 'nothing fails'],
    ['The hub starts jobs until the status is set.', "'set', 'finish'", "'finish', 'set'", 'jobs are killed'],
    [
      'Only a run that passes is a success.',
      "? 'failure' : 'error'",
      "? 'success' : 'error'",
      'nothing fails',
    ],
    [
      'A timeout is not a verdict.',
      'const verdictCodes: readonly number[] = [',
      'const verdictCodes: readonly number[] = [exitCodes.timeout, ',
      'nothing fails',
    ],
    ['A commit status names its gate.', '${mark(id)}`;', '`;', 'nothing fails'],
    [
      'The status of another gate is not that of this one.',
      'endsWith(mark(id))',
      "includes('gate')",
      'nothing fails',
    ],
  ],
  'plan/saved.ts': [
    [
      'A job ends only when its run was seen in progress.',
      'run?.live === true',
      'run !== null',
      'nothing fails',
    ],
  ],
  'detached/entry.ts': [
    [
      'A newer gate does not replace one that is decided.',
      'isOpen(older) && precedes',
      'precedes',
      'two commits of a pull request',
    ],
    [
      'Gates of a merge queue do not replace each other.',
      'older.pull !== null && ',
      '',
      'two commits in a merge queue',
    ],
    [
      'A newer gate of the same commit replaces the older one.',
      ' || older.commit === newer.commit',
      '',
      'one commit in a merge queue',
    ],
    [
      'A newer gate of the pull request replaces the older one.',
      'isSamePull || ',
      '',
      'two commits of a pull request',
    ],
    [
      'Gates of several pull requests do not replace each other.',
      'older.pull === newer.pull',
      'true',
      'two pull requests',
    ],
    ['An older gate does not replace a newer one.', ') && isOlder', ')', 'two gates of a commit'],
    [
      'A job of an older commit that comes late replaces nothing.',
      'older.commit !== newer.commit && before !== after',
      'false',
      'two commits of a pull request, the older one comes last',
    ],
    [
      'No gate is replaced while it decides.',
      'if (now < gate.decidesUntil) return null;',
      '',
      'two gates of a commit',
    ],
    [
      'No job goes on with a gate that is replaced.',
      "if (gate.replacedBy !== null) return 'replaced';",
      '',
      'two gates of a commit, one started by hand',
    ],
    [
      'No job goes on with a gate that is decided.',
      "if (gate.done) return 'done';",
      '',
      'two gates of a commit, one started by hand',
    ],
    [
      'One job goes on with a gate.',
      "if (isLeased(gate, now) && gate.lease?.job !== job) return 'leased';",
      '',
      'jobs are started by hand',
    ],
    [
      'Only the job that holds a gate saves and decides.',
      'lease?.job === job && lease.until',
      'lease !== null && lease.until',
      'requests are lost',
    ],
    [
      'A job may repeat that it hands its gate over.',
      'if (released && gate.lease?.job === job && gate.lease.until === 0) return gate;',
      '',
      'requests are lost',
    ],
    ['A late save opens no gate again.', 'if (gate.done) return gate;', '', 'requests are late'],
    [
      'A late save lets no newer gate begin.',
      'done || released ? 0 : gate.decidesUntil',
      '0',
      'two gates of a commit, requests are late',
    ],
    [
      'A gate that is handed over can be continued at once.',
      'lease: { job, until: 0 }, heardFrom',
      'heardFrom',
      'nothing fails',
    ],
    [
      'The hub waits for the status that a gate sets.',
      'decidesUntil: now + decideMs + onItsWayMs',
      'decidesUntil: 0',
      'two gates of a commit',
    ],
    [
      'The hub waits for a request on its way.',
      ' + onItsWayMs',
      '',
      'two gates of a commit, requests are late',
    ],
    [
      'No other job comes while one decides.',
      'lease: { job, until: now + leaseMs }, decidesUntil',
      'decidesUntil',
      'requests are lost',
    ],
    ['No job is started for a gate that is decided.', 'if (!isOpen(gate)) return null;', '', 'nothing fails'],
    ['No job is started for a gate that another one holds.', 'lease?.until ?? 0', '0', 'nothing fails'],
    [
      'A job comes at the timeout, without a delivery.',
      'namedAt ?? endsAt, lostAt, endsAt',
      'namedAt ?? Infinity',
      'nothing fails',
    ],
    [
      'A job that did not come is started again.',
      'if (starts.count <= mostRepeats) return Math.max(free, starts.at + repeatMs);',
      '',
      'requests are lost',
    ],
    ['Jobs are started again only so often.', 'starts.count <= mostRepeats', 'true', 'no job comes'],
    [
      'Jobs are started again after the timeout.',
      'starts.at < endsAt ? Math.max(free, endsAt) : null',
      'null',
      'no job comes',
    ],
    [
      'The repeats count again after the timeout.',
      'now >= gate.endsAt && gate.starts.at < gate.endsAt ? 1 : ',
      '',
      'no job comes',
    ],
    [
      'A job that does not come is started again after a while.',
      'gate.starts.count + 1',
      'gate.starts.count',
      'nothing fails',
    ],
    [
      'A gate stays at the hub for a day after its timeout.',
      'now >= endsAt + keptMs',
      'now >= endsAt',
      'nothing fails',
    ],
  ],
};

/**
 * Changes that break no invariant, with the reason.
 * `lease: null` of a gate that is replaced, and the checks for that in `saved` and `deciding`: each holds without the other.
 * `until > 0` in `isHolder`: a job asks for nothing after it has handed over. A late save would only delay the next job.
 * `isPending`: it only spares requests, which `fetched` refuses.
 * `named`, `heardFrom` and `startFailed`: the next job would only come earlier or later.
 * `opening` with `replace` before `pend`: the older commit is told earlier.
 */
export const equivalents = null;
