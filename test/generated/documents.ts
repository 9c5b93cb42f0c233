import * as z from 'zod/mini';
import { described as field, result, shown } from '../../src/contract/fields.ts';
import { run } from '../../src/contract/run.ts';
import { errorReport, gateReport, gatesReport, startedRun } from '../../src/gate/result-schema.ts';
import { checkNames } from '../../src/receipt/error.ts';

/*
 * The documents with a published schema that commands print with `--json`. `npm run generate` writes docs/schemas from this file, and
 * every test checks the documents that a command prints.
 */

const text = (about: string) => field(z.string(), about);
const textOrNull = (about: string) => field(z.nullable(z.string()), about);
const flag = (about: string) => field(z.boolean(), about);
const number = (about: string) => field(z.number(), about);
const list = <Item extends z.ZodMiniType>(item: Item, about: string) =>
  field(z.readonly(z.array(item)), about);
const schemaVersion = field(
  z.literal(1),
  'The version of the document. Added fields do not change it; removed or changed fields do.',
);
const document = <const Shape extends z.core.$ZodShape>(id: string, about: string, shape: Shape) =>
  result(id, about, { schemaVersion, ...shape });

const optionalNumber = (about: string) => field(z.nullish(z.number()), about);
const { id: _id, ...condition } = shown.get(run['run.status'].response) ?? {};
/** Every count may be null before the end, which openapi.json does not say for the sake of example generators. */
const status = z
  .looseObject({
    runId: field(z.unknown(), "The run's id, as the service sends it, or else as it was given."),
    state: text("The run's state. One other than `in_progress`, `completed` and `cancelled` is not the end."),
    failed: optionalNumber('The number of failed items, reliable once the run has ended.'),
    blocked: optionalNumber('The number of blocked items, reliable once the run has ended.'),
    appUrl: field(z.nullish(z.string()), "The URL of the run's page."),
    retryAfterSeconds: optionalNumber('The time to wait before the next status read.'),
  })
  .register(shown, condition);

const dryRunRequest = result('DryRunRequest', 'A request that would create a run.', {
  gate: textOrNull("The gate's name; null for one gate that is not in a file."),
  needs: list(z.string(), 'The gates that must pass before this one starts.'),
  advisory: flag('Whether the gate warns where another one fails.'),
  method: text('`POST`.'),
  url: textOrNull('The URL; null if no base URL is set.'),
  path: text('The path of the URL.'),
  credential: textOrNull('The source of the credential, for people; null if none is set.'),
  body: field(z.looseObject({}), 'The body of the request.'),
  idempotencyKey: textOrNull('The idempotency key; null if it would be random.'),
  keyOrigin: text('How the key was made, for people.'),
});

const doctorCheck = result('DoctorCheck', 'The result of one check.', {
  name: text("The check's name: `settings`, `dns`, `connection` and so on."),
  status: field(
    z.enum(['ok', 'warn', 'fail', 'skip']),
    '`skip`: the check did not apply or was not possible.',
  ),
  detail: text('The finding, for people. It never contains a secret.'),
  remedy: textOrNull('The remedy, for people; null if there is nothing to do.'),
  exitCode: number('For `fail`, the exit code of a gate with this problem; otherwise 0.'),
});

const receiptCheck = result('ReceiptCheck', 'The outcome of one check of a receipt.', {
  check: field(z.enum(checkNames), "The check's name. Stable."),
  status: field(
    z.enum(['passed', 'failed', 'skipped']),
    '`skipped`: it was not requested, or an earlier check failed.',
  ),
  reason: textOrNull('Why the check failed; otherwise null.'),
});

const receiptVerification = {
  verified: flag('Whether every check passed.'),
  failed: field(z.nullable(z.enum(checkNames)), 'The first check that failed; null if none did.'),
  checks: list(receiptCheck, 'All checks, in the order in which they are made.'),
  keyId: textOrNull('The id of the trusted key that signed; null if none did.'),
  key: textOrNull('The path of that key.'),
  statement: field(
    z.nullable(z.looseObject({})),
    'The content of the receipt, an in-toto statement; null unless every check passed.',
  ),
};

/**
 * The documents by the names of their schemas, with the commands that print them. A command with more options precedes the
 * one without.
 */
export const documents = {
  gate: {
    about: 'The result of a gate, or of several',
    schema: z.union([gateReport, gatesReport]),
    commands: ['gate', 'run trigger --wait', 'run wait'],
  },
  'dry-run': {
    about: 'The requests that gates would send',
    schema: document('DryRun', 'The requests that would create runs.', {
      requests: list(dryRunRequest, 'Every gate comes after its dependencies.'),
    }),
    commands: ['gate --dry-run', 'run trigger --dry-run'],
  },
  'run-trigger': {
    about: 'A run that was started',
    schema: z.omit(startedRun, { reattached: true }),
    commands: ['run trigger'],
  },
  'run-status': {
    about: 'The status of a run, as the service sends it, with its id',
    schema: status,
    commands: ['run status'],
  },
  'receipt-verify': {
    about: 'The checks of a receipt',
    schema: z.union([
      document('ReceiptVerification', 'The checks of a receipt.', receiptVerification),
      document('ReceiptVerifications', 'The checks of several receipts, or of receipts with --gate.', {
        verified: flag('Whether every check of every receipt passed, and no gate of --gate is missing.'),
        missing: list(z.string(), 'The gates of --gate of which no receipt was verified.'),
        receipts: list(
          result('VerifiedReceipt', 'A receipt with its checks.', {
            file: text('The path of the receipt.'),
            gate: textOrNull(
              'The gate that the receipt is about; null if a key or the receipt does not say.',
            ),
            ...receiptVerification,
          }),
          'The receipts, in the order of the command line and of the names in a folder.',
        ),
      }),
    ]),
    commands: ['receipt verify'],
  },
  doctor: {
    about: 'The checks of the configuration',
    schema: document('DoctorReport', 'The checks of the configuration.', {
      ok: flag('Whether no check failed.'),
      exitCode: number('The exit code of the command: that of the first failed check, or 0.'),
      checks: list(doctorCheck, 'The checks, in the order in which they were made.'),
    }),
    commands: ['doctor'],
  },
  error: {
    about: 'An error, on standard error',
    schema: field(
      z.strictObject({ error: errorReport }),
      'Why a command failed: the last line on standard error.',
    ),
    commands: [],
  },
} as const satisfies Readonly<
  Record<string, { about: string; schema: z.ZodMiniType; commands: readonly string[] }>
>;
