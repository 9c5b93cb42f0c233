import * as z from 'zod/mini';
import { choice, described as field, result } from '../contract/fields.ts';
import type { ErrorReport } from '../errors.ts';
import { gateResults } from './plan/graph.ts';
import { results, verdicts } from './policy.ts';

/*
 * The results as `--json`, the reports and the library have them. `npm run generate` writes result-types.ts from this file.
 * rungate does not load it: only a test checks results.
 */

const text = () => z.string();
const textOrNull = () => z.nullable(text());
const count = () => z.nullable(z.number());
const present = () => z.exactOptional(z.literal(true));
const schemaVersion = field(
  z.literal(1),
  'The version of the document. Added fields do not change it; removed or changed fields do.',
);

const verdict = choice(
  'Verdict',
  verdicts,
  "The verdict on a run, which the gate's policy turns into an action.",
);
const outcome = choice(
  'Result',
  results,
  'The result of a gate: an action, or `waiting` if a slice (`--slice`) ended before the gate did.',
);
const stopCause = choice(
  'StopCause',
  ['SIGHUP', 'SIGINT', 'SIGTERM', 'abort', 'fail-fast', 'slice'],
  'The cause that ended the wait early: a signal, `abort` in the library, the failure of another gate, or the end of a slice.',
);
const cancellation = choice(
  'Cancellation',
  ['requested', 'failed', 'none'],
  '`requested`: the service accepted the cancellation. `failed`: it did not, or that is unknown. `none`: rungate sent none.',
);
/** `ErrorReport` is declared beside the errors, which import no schema. */
const errorFields: { readonly [Field in keyof ErrorReport]: z.ZodMiniType<ErrorReport[Field]> } = {
  code: field(
    text(),
    'The stable name of the error: `usage`, `config`, `not_found`, `rate_limited` and so on.',
  ),
  message: field(text(), 'The problem, for people.'),
  status: field(count(), 'The status code, if the service responded; otherwise null.'),
  method: field(textOrNull(), 'The method of the request; null if the error is about none.'),
  path: field(textOrNull(), "The path of the request's URL; null if the error is about none."),
  details: field(
    z.unknown(),
    "The details of the service's error: text, or any other JSON; null if there are none.",
  ),
  hint: field(textOrNull(), 'The remedy, for people; null if none is known.'),
  body: field(
    textOrNull(),
    'The body of the refused response without secrets, at most 64 KiB; otherwise null.',
  ),
};
export const errorReport = result(
  'ErrorReport',
  'Why something failed. Unknown facts are null.',
  errorFields,
);

const subject = {
  name: field(
    textOrNull(),
    'For reports, the same in each build: `shop / checkout`, `shop / smoke, nightly`.',
  ),
  project: field(textOrNull(), "The project's slug."),
  process: field(textOrNull(), "The process's slug; null for a run that was started by tags."),
  tags: field(
    z.nullable(z.readonly(z.array(z.string()))),
    'The tags that started the run; null for a run of a process.',
  ),
};
const appUrl = field(textOrNull(), "The URL of the run's page; null if the service sent none.");
const reattached = field(
  z.nullable(z.boolean()),
  'Whether an earlier request with the same key started the run, for example from this job before its re-run. Null if neither the service nor CI says.',
);

export const runSubject = result(
  'RunSubject',
  'The subject of a run: the project and the process or tags that it tests. Unknown facts are null.',
  subject,
);

const runReport = result('RunReport', 'A run, with its verdict. Unknown facts are null.', {
  ...subject,
  runId: field(
    textOrNull(),
    'Null if rungate was stopped before the service responded to the request that creates the run.',
  ),
  state: field(textOrNull(), 'The last known state, as the service names it.'),
  verdict: field(z.nullable(verdict), 'Null if the wait was stopped before the run ended.'),
  action: field(outcome, 'The action of the policy on the verdict.'),
  failed: field(count(), 'The number of failed items.'),
  blocked: field(count(), 'The number of blocked items.'),
  appUrl,
  attempts: field(z.number(), 'The number of status reads.'),
  elapsedSeconds: field(z.number(), 'The time that the gate spent on the run, with three decimals.'),
  endedAt: field(
    z.exactOptional(text()),
    'When the verdict was reached, RFC 3339; absent if there is none, or if creating the run failed.',
  ),
  idempotencyKey: field(
    textOrNull(),
    'The key of the request that created the run; null if the gate created none.',
  ),
  reattached,
  retry: field(z.exactOptional(z.number()), 'The number of the retry that started the run.'),
  nextReadSeconds: field(
    z.exactOptional(z.number()),
    'The time until the next read, if the deadline came before that read.',
  ),
  attemptsExhausted: field(present(), 'The limit of status reads ended the wait, not the timeout.'),
  cancellation: field(
    z.exactOptional(z.enum(['requested', 'failed'])),
    'The result of the request to cancel the run; absent if there was none.',
  ),
  decides: field(
    z.exactOptional(z.boolean()),
    'Whether the run decides the gate; only if `retries` started several.',
  ),
  woken: field(present(), 'A webhook caused the last read.'),
  advisory: field(present(), 'The gate is advisory: it warns where another one fails.'),
  error: field(z.exactOptional(errorReport), 'Why the run could not be started or judged; absent if it was.'),
});

const discardedRun = result(
  'DiscardedRun',
  'A run that had ended before its first clear status read. It is not judged: another job, or this one before its re-run, may have started it.',
  {
    runId: field(text(), "The run's id."),
    appUrl,
    idempotencyKey: field(text(), 'The key of the request that found the run.'),
    verdict,
    reason: field(text(), 'A sentence for people: who may have started it, and how to tell such jobs apart.'),
  },
);
const discarded = field(
  z.exactOptional(z.array(discardedRun)),
  'Runs that had ended before their first status read and may belong to another job; absent if there are none.',
);

const versionRead = result('VersionRead', 'A read of the version page in the result of a gate.', {
  at: field(text(), 'RFC 3339.'),
  phase: field(
    z.enum(['before', 'during', 'after']),
    'Before the run is created, during the wait for the runs, or after their verdicts.',
  ),
  text: field(
    textOrNull(),
    'The version without secrets, cut to 200 characters; untrusted. Null if the read failed.',
  ),
  matches: field(z.boolean(), 'Whether the version was the expected one.'),
  error: field(textOrNull(), 'The reason why the read failed; null if it did not.'),
});
const deployed = result('DeployedReport', 'The deployed build in the result of a gate.', {
  url: field(text(), 'The URL of the version page, without its query.'),
  pointer: field(textOrNull(), 'The JSON pointer of the version; null if the whole page is the version.'),
  expected: field(
    text(),
    'The expected version that the page showed; before that, every one that would match, separated by ` or `.',
  ),
  matches: field(
    z.nullable(z.boolean()),
    'Whether the runs tested only the expected build; null if unknown.',
  ),
  reads: field(z.array(versionRead), 'The first read, every change, and the last read.'),
});

const preview = result('PreviewReport', 'An environment that rungate created for a preview deployment.', {
  environmentKey: field(text(), "The environment's key, which the runs have as `environmentKey`."),
  baseUrl: field(text(), 'The URL of the deployment, without its query.'),
  deleted: field(
    z.boolean(),
    'Whether the environment was deleted. It stays if a run may still use it, or if deleting it failed.',
  ),
});

const cancelled = field(
  z.exactOptional(cancellation),
  'Whether the runs that had not ended were cancelled; absent if the wait was not stopped.',
);

/** The fields of one gate, alone or among several. */
const ofGate = {
  runs: field(z.array(runReport), 'From the first to the last, with those that `retries` started.'),
  discarded,
  cancellation: cancelled,
};
/** The fields of a whole result. */
const ofResult = {
  schemaVersion,
  result: field(
    outcome,
    'The worst action on the runs; `fail` if rungate was stopped or no run was started.',
  ),
  exitCode: field(z.number(), 'The exit code of the command.'),
  deployed: field(z.exactOptional(deployed), 'Which build was deployed; absent if that was not checked.'),
  previews: field(
    z.exactOptional(z.array(preview)),
    'The environments that rungate created; absent without a preview deployment.',
  ),
  interruptedBy: field(
    z.exactOptional(stopCause),
    'The cause that ended the wait early; absent if there was none.',
  ),
  startedAt: field(z.exactOptional(text()), 'With `next`: the start of the first slice, RFC 3339.'),
  next: field(
    z.exactOptional(z.readonly(z.array(z.string()))),
    'The command that continues the gate, as arguments: `rungate gate --resume <id>`; only with `--slice`, and absent once the gate has ended.',
  ),
  hint: field(z.exactOptional(text()), 'The next step, for people; absent if there is none.'),
};

export const gateReport = result(
  'GateReport',
  'The result of a gate. Its fields are public and covered by semantic versioning.',
  { ...ofResult, ...ofGate },
);

const namedGateReport = result('NamedGateReport', 'The result of one gate of several.', {
  name: field(text(), "The gate's name."),
  result: choice(
    'GateResult',
    gateResults,
    'The result of one gate of several: `skipped` if it never began, `waiting` if a slice (`--slice`) ended before it did, otherwise the worst action on its runs.',
  ),
  exitCode: field(
    count(),
    'The exit code that the gate adds to the result; null if it was skipped or stopped, or has not ended.',
  ),
  needs: field(z.array(z.string()), 'The gates that had to pass before this one started.'),
  advisory: field(z.boolean(), 'Whether the gate warns where another one fails.'),
  reason: field(
    textOrNull(),
    'Why the gate was skipped, or stopped before its end; null for any other gate.',
  ),
  ...ofGate,
  error: field(z.exactOptional(errorReport), 'Why no run could be started; absent if one was.'),
});
export const gatesReport = result(
  'GatesReport',
  'The result of several gates. Its fields are public and covered by semantic versioning.',
  {
    ...ofResult,
    gates: field(z.array(namedGateReport), 'Every gate comes after its dependencies.'),
    cancellation: cancelled,
  },
);

export const startedRun = result(
  'StartedRun',
  'A run that was started or found again: the shape that `rungate run trigger --json` prints, with `reattached`.',
  {
    schemaVersion,
    ...subject,
    runId: field(text(), "The run's id."),
    appUrl,
    idempotencyKey: field(text(), 'The key of the request that created the run.'),
    reattached,
    discarded,
    response: field(
      z.unknown(),
      'The response of the service, whose fields are not specified; null if it was empty.',
    ),
  },
);
