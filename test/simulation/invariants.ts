import { exitCodes } from '../../src/exit.ts';
import type { NamedGateReport, RunReport } from '../../src/gate/result-types.ts';
import type { ServiceRun } from '../slice/service.ts';
import { junit, type Played } from './play.ts';
import { apiKey } from './service.ts';

type Gate = Pick<NamedGateReport, 'name' | 'result' | 'runs' | 'discarded' | 'advisory'>;

const known: readonly number[] = Object.values(exitCodes).filter((code) => code !== exitCodes.bug);
/** A command may take so much longer than its limit: a last read, a cancel. */
const slackMs = 25_000;
const stopMs = 5_000;

function gatesIn({ report }: Played): Gate[] {
  if (report === null) return [];
  if ('gates' in report) return report.gates;
  return report.runs === undefined ? [] : [{ name: 'web', advisory: false, ...report } as Gate];
}

const hasEnded = (run: ServiceRun, now: number) => run.endsAt <= now;

/** Returns the processes whose knowledge a command has: its own, and that of the slices before it. */
const witnesses = ({ world, scope, ended }: Played): ReadonlySet<string> =>
  world.sliceMs === null ? new Set([ended.id]) : scope.ids;

/** Returns how many gates wait for one another at most. */
function depthOf({ gates }: Played['world']): number {
  const depths = new Map<string, number>();
  for (const { name, needs } of gates)
    depths.set(name, 1 + Math.max(0, ...needs.map((need) => depths.get(need) ?? 0)));
  return Math.max(...depths.values());
}

/** Checks what holds after each command, whatever has happened. */
export function checkCommand(played: Played): void {
  const { ended, report, on, fail, scope } = played;
  const { code, out, err } = ended;
  const texts = [out, err, on.state() ?? '', ...Object.values(on.files).map(String)];
  if (texts.some((text) => text.includes(apiKey))) fail('a secret is in the output or in the state');
  for (const { run, other } of played.service.overlaps.slice(scope.overlaps))
    checkOverlap(played, run, other);
  scope.overlaps = played.service.overlaps.length;
  checkTimes(played);
  checkRates(played);
  if (report !== null) checkReport(played);
  if (code === null) return;
  if (!known.includes(code)) fail(`exit code ${code}\n${err}`);
  if (code === exitCodes.waiting && report?.next === undefined) fail('exit 75 without next');
  if (report?.next !== undefined && on.files[junit] !== undefined) fail('a report of a gate that goes on');
}

/** The exit code, the result and the runs agree with one another and with the service. */
function checkReport(played: Played): void {
  const { report, ended, fail, service, scope } = played;
  const { code, endedAt } = ended;
  if (report?.result === undefined) return;
  if (code !== null && report.exitCode !== code) fail(`exit ${code}, but the result says ${report.exitCode}`);
  const isGood = report.result === 'pass' || report.result === 'warn';
  if (isGood !== (report.exitCode === exitCodes.ok)) fail(`result ${report.result} with ${report.exitCode}`);
  for (const gate of gatesIn(played)) {
    for (const run of gate.runs) checkVerdict(played, gate, run);
    if (isGood && !gate.advisory && !hasPassed(played, gate))
      fail(`exit 0, but gate ${gate.name} has no run that passed and that it saw in progress or created`);
    if (code !== exitCodes.ok || played.world.retries > 0 || scope.lost) continue;
    const failed = service.runs.find(
      (run) =>
        run.gate === gate.name &&
        run.end === 'failed' &&
        hasEnded(run, endedAt) &&
        isOwn(played, run) &&
        !scope.named.has(run.id),
    );
    if (failed !== undefined && gate.result === 'pass') fail(`the failure of ${failed.id} is lost`);
  }
}

/** Returns whether the gate must know the run: it has created it and lived, or has seen it in progress. */
const isOwn = ({ scope, service }: Played, { id }: ServiceRun) =>
  [...(service.seen.get(id) ?? [])].some((by) => scope.ids.has(by));

function checkVerdict({ service, ended, fail }: Played, { name }: Gate, { runId, verdict }: RunReport): void {
  if (runId === null) return;
  const run = service.runs.find(({ id }) => id === runId);
  if (run === undefined || run.gate !== name) {
    fail(`${runId} is not a run of gate ${name}`);
    return;
  }
  const end = verdict === 'flaky' ? 'passed' : verdict;
  if (end !== 'passed' && end !== 'failed' && end !== 'blocked' && end !== 'cancelled') return;
  if (run.end !== end || !hasEnded(run, ended.endedAt)) fail(`${runId} is ${run.end}, not ${verdict}`);
}

/** Returns whether a run of the gate has passed that is its own for certain, or whether its user lets another end pass. */
function hasPassed(played: Played, { runs, result }: Gate): boolean {
  const { world, service } = played;
  const last = runs.at(-1);
  if (result !== 'pass' && result !== 'warn') return false;
  if (last?.verdict === 'timeout') return world.warns && result === 'warn';
  const run = service.runs.find(({ id }) => id === last?.runId);
  if (run === undefined || run.end !== 'passed' || !hasEnded(run, played.ended.endedAt)) return false;
  const own = witnesses(played);
  return own.has(run.by) || [...(service.seen.get(run.id) ?? [])].some((by) => own.has(by));
}

function checkOverlap({ world, scope, fail }: Played, run: ServiceRun, other: ServiceRun): void {
  // Outside CI, nothing but the state connects two commands.
  if (world.place === 'shell' && (world.sliceMs === null || scope.lost)) return;
  // Then the chain can end with a random key, which a later machine does not know.
  if (scope.begun > scope.job) return;
  fail(`${run.id} was created while ${other.id} was in progress`);
}

function checkTimes(played: Played): void {
  const { world, scope, ended, act, on, fail, report } = played;
  const { startedAt, endedAt, code } = ended;
  const took = endedAt - startedAt;
  const whole = depthOf(world) * (world.timeoutMs + slackMs);
  const limit = world.sliceMs === null || scope.lost ? whole : world.sliceMs + slackMs;
  if (took > limit) fail(`it took ${took / 1000} s instead of at most ${limit / 1000} s`);
  if (code !== null && act.signal !== null && code >= exitCodes.SIGHUP && took > act.signal.afterMs + stopMs)
    fail(`the stop took ${(took - act.signal.afterMs) / 1000} s`);
  if (code !== exitCodes.waiting || scope.lost) return;
  // The timeout of a gate that needs others begins in the command that sees them pass.
  const extra = scope.wasSetBack || depthOf(world) > 1 ? scope.pausedMs : 0;
  if (on.now() > scope.begunAt + whole + extra) fail('exit 75 after the timeout');
  if (report?.result !== 'waiting') fail(`exit 75 with result ${report?.result}`);
}

const mostInAMinute = (times: readonly number[]) =>
  Math.max(0, ...times.map((at, index) => times.slice(index).filter((other) => other < at + 60_000).length));

function checkRates({ world, act, service, ended, fail }: Played): void {
  const { creates, reads } = service.sent.get(ended.id) ?? { creates: [], reads: [] };
  // A stop sends the request of each gate once more, at once.
  const most = act.signal === null ? 20 : 20 + world.gates.length;
  if (mostInAMinute(creates) > most) fail(`more than ${most} creates in a minute`);
  if (mostInAMinute(reads) > 60) fail('more than 60 reads in a minute');
}

/** Returns the runs in a result. The same command starts another run of a gate that has ended. */
export const namedRuns = (played: Played) =>
  gatesIn(played).flatMap(({ runs, discarded = [] }) =>
    [...runs, ...discarded].flatMap(({ runId }) => runId ?? []),
  );

/** Checks what holds at the end of a gate. */
export function checkEnd(played: Played): void {
  const { world, service, scope, ended, report, fail } = played;
  const { code, endedAt } = ended;
  if (report?.result === undefined) return;
  const gates = gatesIn(played);
  for (const run of service.runs.filter(({ by }) => scope.ids.has(by))) {
    const isNamed = scope.said.includes(run.id) || scope.said.includes(run.key);
    if (!isNamed && !scope.lost && !isForgotten(played, run)) fail(`no command has named ${run.id}`);
  }
  if (world.sliceMs !== null && !scope.lost && world.place === 'shell')
    for (const { name } of gates) {
      const own = service.runs.filter(({ by, gate }) => gate === name && scope.ids.has(by));
      if (own.length > 1 + world.retries) fail(`gate ${name} has ${own.length} runs`);
    }
  for (const { name, needs } of world.gates) checkNeeds(played, name, needs);
  const names = (list: readonly { name: string }[]) =>
    list
      .map(({ name }) => name)
      .toSorted()
      .join(' ');
  if (names(gates) !== names(world.gates)) fail(`the result is about ${names(gates)}`);
  const verdicts = gates.flatMap(({ runs }) => runs.map(({ verdict }) => verdict));
  for (const [verdict, expected] of [
    ['failed', exitCodes.failed],
    ['blocked', exitCodes.blocked],
    ['cancelled', exitCodes.cancelled],
  ] as const)
    if (code === expected && !verdicts.includes(verdict))
      fail(`exit ${code} without a run that is ${verdict}`);
  const isQuick = world.invisibleMs === 0 && Math.max(...world.latencies) < 1_000;
  if (code === exitCodes.SIGINT && service.faults() === 0 && isQuick && !scope.lost)
    for (const run of service.runs)
      if (scope.ids.has(run.by) && !hasEnded(run, endedAt)) fail(`Ctrl-C left ${run.id} in progress`);
}

/** A command that was killed leaves a run that nobody has seen, and the next one may look for it too late. */
const isForgotten = ({ scope, service }: Played, run: ServiceRun) =>
  scope.killed.has(run.by) && (service.seen.get(run.id)?.size ?? 0) === 0;

/** No gate begins before those that it needs have passed. */
function checkNeeds({ service, scope, world, fail }: Played, name: string, needs: readonly string[]): void {
  const first = service.runs.find(({ gate, by }) => gate === name && scope.ids.has(by));
  if (first === undefined) return;
  for (const need of needs) {
    const ended = service.runs.filter(({ gate, endsAt }) => gate === need && endsAt <= first.createdAt);
    const isMet = world.warns || world.gates.some((gate) => gate.name === need && gate.advisory);
    if (!isMet && !ended.some(({ end }) => end === 'passed'))
      fail(`gate ${name} began before gate ${need} had passed`);
  }
}

/** Returns whether the end of the gate is unknown, so that the same command goes on with it. */
export const isUnclear = (played: Played) =>
  played.report?.result === undefined ||
  gatesIn(played).some(({ runs }) => runs.some(({ verdict }) => verdict === 'unobserved'));

/** Checks the first command after the end of a gate: it begins another gate, or refuses to while a run goes on after a timeout. */
export function checkRepeat({ ended, service, fail }: Played, runs: number): void {
  const started = service.runs.length - runs;
  const goesOn = service.runs.slice(0, runs).some(({ endsAt }) => endsAt > ended.startedAt);
  if (ended.code === exitCodes.usage && started > 0) fail('exit 64, but it started a run');
  if (ended.code !== exitCodes.usage && started === 0 && !goesOn)
    fail('the command after the end started no run');
}
