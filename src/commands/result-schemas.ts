import * as z from 'zod/mini';
import { providers } from '../ci/context.ts';
import { described as field, result, shown } from '../contract/fields.ts';
import { run } from '../contract/run.ts';
import { actions } from '../gate/policy.ts';
import { errorReport, gateReport, gatesReport, startedRun } from '../gate/result-schema.ts';
import { checkNames } from '../receipt/error.ts';
import { statement } from '../receipt/statement-schema.ts';
import { origins } from '../settings/names.ts';

/*
 * The documents that commands print with `--json`. `npm run generate` writes docs/schemas from this file, and types are
 * inferred from it. As gate/result-schema.ts, no command loads it: the tests check every document that a command prints.
 */

const text = (about: string) => field(z.string(), about);
const textOrNull = (about: string) => field(z.nullable(z.string()), about);
const flag = (about: string) => field(z.boolean(), about);
const number = (about: string) => field(z.number(), about);
const numberOrNull = (about: string) => field(z.nullable(z.number()), about);
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
  statement: field(z.nullable(statement), 'The content of the receipt; null unless every check passed.'),
};

const scenario = result('SelftestScenario', 'A scenario, and what the step did in it.', {
  name: text("The scenario's name."),
  expected: field(
    z.enum(['green', 'red', 'any']),
    'The expected exit code of the step: 0, any other one, or either.',
  ),
  exitCode: number('The exit code of the step.'),
  ok: flag('Whether the step did what was expected.'),
  seconds: number('The duration of the step.'),
  runsCreated: number('The number of runs that the step created.'),
  hint: textOrNull('The remedy, for people; null if the step is right.'),
});

const plannedFile = result('PlannedFile', 'A file, and what init does with it.', {
  path: text("The file's path."),
  text: text("The file's new content, or the text to add."),
  fate: field(
    z.enum(['written', 'kept', 'differs', 'shown']),
    '`written`: with --dry-run, it would be written. `kept`: it already has this content. `differs`: it exists, runs rungate, and is replaced only with --force. `shown`: it exists with other content, and you add the text.',
  ),
  how: field(
    z.exactOptional(z.string()),
    'For `shown`, the instruction for people, to be followed by the path.',
  ),
});

const provenance = {
  origin: field(z.nullable(z.enum(origins)), 'The source of the value; null if the setting is not set.'),
  detail: textOrNull('The place in that source: the name of a variable, or the path of a file.'),
};
const settingValue = result('SettingValue', 'The value of a setting, and where it comes from.', {
  value: field(z.unknown(), 'The value as in a project file; null if it is not set.'),
  ...provenance,
});
const secretSetting = result('SecretSetting', 'Whether a secret is set, and where it comes from.', {
  set: flag('Whether the secret is set.'),
  ...provenance,
});
const settings = field(
  z.record(z.string(), z.union([settingValue, secretSetting])),
  'The settings by their names.',
);
const configFiles = {
  profile: text('The name of the active profile.'),
  profilesFile: textOrNull('The path of the file of profiles.'),
  projectFile: textOrNull('The path of the project file; null if there is none.'),
};
const gateSettings = field(
  z.looseObject({
    name: text("The gate's name."),
    needs: list(z.string(), 'The gates that must pass before this one starts.'),
    advisory: flag('Whether the gate warns where another one fails.'),
    settings,
  }),
  'A gate of the project file, with its build information.',
);
const settingName = text("The setting's name.");

const signature = {
  timestamp: textOrNull("The delivery's timestamp; null if it has none."),
  ageSeconds: numberOrNull(
    'The time since the timestamp, negative if the timestamp is ahead; null if it was not read.',
  ),
  secret: field(
    z.nullable(z.enum(['webhook', 'tenant'])),
    'The kind of the secret that signed; null if none did.',
  ),
  secretIndex: numberOrNull('The index of the secret that signed, from 0; null if none did.'),
};
const diagnosis = result('WebhookDiagnosis', 'Why the signature does not match.', {
  causes: list(
    result('WebhookCause', 'A mistake that explains the mismatch.', {
      id: text("The mistake's name. Stable."),
      sentence: text('The mistake, for people.'),
      remedy: text('The remedy, for people.'),
    }),
    'The mistake that explains the mismatch; empty if none is known.',
  ),
  tried: flag('False if the body is too large for a diagnosis.'),
});

const difference = {
  stated: text('As in the summary.'),
  summed: text('The sum over the list.'),
  difference: text('`stated` minus `summed`.'),
};

const helpArgument = result('HelpArgument', 'An argument of a command.', {
  name: text("The argument's name."),
  description: text("The argument's description; may be empty."),
  required: flag('Whether the command requires it.'),
  repeatable: flag('Whether it takes several values.'),
  choices: field(z.exactOptional(z.readonly(z.array(z.string()))), 'The values to choose from.'),
});
const helpOption = result('HelpOption', 'An option of a command.', {
  flag: text('The option: `--timeout`.'),
  short: field(z.exactOptional(z.string()), 'Its short form: `-q`.'),
  placeholder: field(
    z.exactOptional(z.string()),
    'The placeholder of its value: `duration`; absent if it takes none.',
  ),
  description: text('The description, as the help shows it.'),
  default: field(z.exactOptional(z.string()), 'The default, if it is always the same.'),
  environment: field(z.exactOptional(z.string()), 'The environment variable that has the same effect.'),
  repeatable: flag('Whether it may be repeated.'),
  choices: field(z.exactOptional(z.readonly(z.array(z.string()))), 'The values to choose from.'),
  group: text("The option's heading in the help."),
});
const helpCommand = result('HelpCommand', 'A command, or a group of commands.', {
  name: text('The whole name: `rungate run trigger`.'),
  summary: text('The command in a few words.'),
  description: text('The purpose of the command in sentences.'),
  usage: text('The command line, with placeholders.'),
  group: text("The command's heading in the help of the command above it; empty for none."),
  arguments: list(helpArgument, 'The arguments, in order.'),
  options: list(helpOption, 'The options, without those of every command.'),
  notes: text('The text below the options in the help; may be empty.'),
  examples: list(z.string(), 'The lines of the examples.'),
  commands: list(z.string(), 'The whole names of the commands of a group; empty for a command.'),
});

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
      requests: list(dryRunRequest, 'In an order in which every gate comes after those that it needs.'),
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
  'run-open': {
    about: "The address of a run's page",
    schema: document('RunPage', "The address of a run's page.", {
      runId: text("The run's id."),
      appUrl: text('The URL of its page.'),
    }),
    commands: ['run open'],
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
  'receipt-show': {
    about: 'The content of a receipt, which is not verified',
    schema: document('ReceiptContent', 'The content of a receipt, which is not verified.', {
      verified: field(z.literal(false), 'Always false: anyone can write such a file.'),
      signatures: number('The number of signatures; 0 for a bare statement.'),
      statement: field(
        z.looseObject({}),
        'The content of the file, an in-toto statement if rungate has written it.',
      ),
    }),
    commands: ['receipt show'],
  },
  'receipt-keygen': {
    about: 'New keys for receipts',
    schema: document('ReceiptKeys', 'New keys for receipts.', {
      keyFile: text('The path of the private key.'),
      publicKeyFile: text('The path of the public key.'),
      keyId: text("The public key's id."),
    }),
    commands: ['receipt keygen'],
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
  selftest: {
    about: 'The scenarios of a self-test',
    schema: document('SelftestReport', 'The scenarios of a self-test.', {
      ok: flag('Whether the step did what was expected in every scenario.'),
      scenarios: list(scenario, 'The scenarios, in the order in which they were run.'),
    }),
    commands: ['selftest'],
  },
  init: {
    about: 'The files that init writes',
    schema: document('InitReport', 'The files that init writes.', {
      dryRun: flag('Whether nothing was written.'),
      ci: field(z.enum([...providers, 'none']), 'The CI that the pipeline is for.'),
      files: list(plannedFile, 'The files.'),
      command: textOrNull('The command for a CI system that rungate writes no pipeline for; otherwise null.'),
    }),
    commands: ['init'],
  },
  'config-list': {
    about: 'All settings, and where they come from',
    schema: document('ConfigList', 'All settings, and where they come from.', {
      ...configFiles,
      settings,
      policy: field(
        z.record(
          z.string(),
          result('PolicyAction', "The gate's action on a verdict.", {
            action: field(z.enum(actions), 'The action.'),
            ...provenance,
          }),
        ),
        'The action for each verdict in `run trigger --wait` and `run wait`; `gate` is strict by default.',
      ),
      gates: list(gateSettings, 'The gates of the project file.'),
    }),
    commands: ['config list'],
  },
  'config-get': {
    about: 'A setting, and where it comes from',
    schema: z.union([
      document('ConfigValue', 'The value of a setting, and where it comes from.', {
        name: settingName,
        value: field(z.unknown(), 'The value as in a project file; null if it is not set.'),
        ...provenance,
      }),
      document('ConfigSecret', 'Whether a secret is set, and where it comes from.', {
        name: settingName,
        set: flag('Whether the secret is set.'),
        ...provenance,
      }),
    ]),
    commands: ['config get'],
  },
  'config-path': {
    about: 'The files with settings',
    schema: document('ConfigPath', 'The files with settings.', configFiles),
    commands: ['config path'],
  },
  'profile-change': {
    about: 'A change of a profile',
    schema: document('ProfileChange', 'A change of a profile.', {
      profile: text("The profile's name."),
      profilesFile: text('The path of the file of profiles.'),
      saved: list(text("The setting's name."), 'The settings and secrets that were saved.'),
      removed: list(text("The setting's name."), 'The settings and secrets that were removed.'),
      overridden: list(
        text("The setting's name."),
        'Those that an option, the environment or the project file sets, which takes precedence.',
      ),
    }),
    commands: ['config set', 'config unset', 'login', 'logout'],
  },
  completion: {
    about: 'A completion script',
    schema: document('Completion', 'A completion script.', {
      shell: text("The shell's name."),
      script: text('The script.'),
    }),
    commands: ['completion'],
  },
  'webhooks-verify': {
    about: 'Whether a delivery is authentic',
    schema: document('WebhookVerification', 'Whether a delivery is authentic.', {
      authentic: flag('Whether one of the secrets signed the delivery, and its age is allowed.'),
      code: textOrNull('Why it is not authentic, a stable code; null if it is.'),
      ...signature,
      bytes: number('The size of the body.'),
      diagnosis: field(
        z.exactOptional(diagnosis),
        'With --diagnose, the mistakes that explain a mismatch; absent if there is nothing to explain.',
      ),
    }),
    commands: ['webhooks verify'],
  },
  'webhooks-sign': {
    about: "The headers of a delivery's signature",
    schema: document('WebhookSignature', "The headers of a delivery's signature.", {
      timestamp: text('The value of the timestamp header.'),
      signature: text('The value of the signature header.'),
      headers: field(z.record(z.string(), z.string()), 'Both headers by their names.'),
    }),
    commands: ['webhooks sign'],
  },
  'webhooks-delivery': {
    about: 'A received delivery, one in each line',
    schema: document('WebhookDelivery', 'A received delivery.', {
      time: text('The time of receipt, RFC 3339.'),
      event: textOrNull('The event in the JSON of an authentic body; null if it names none.'),
      bytes: number('The size of the body.'),
      verdict: text(
        '`authentic`, `not_verified` without a secret, `too_large`, or the code of the verification error.',
      ),
      ...signature,
      forward: field(
        z.nullable(
          z.strictObject({
            status: numberOrNull("The status code of the target's response; null if there was none."),
            fault: textOrNull('Why there was none; otherwise null.'),
          }),
        ),
        "The target's response; null if the delivery was not forwarded.",
      ),
      status: number('The status code that the sender received.'),
      file: textOrNull('The path of the saved file; null if it was not saved.'),
    }),
    commands: ['webhooks listen'],
  },
  'hub-event': {
    about: 'An event of the hub, one in each line',
    schema: field(
      z.looseObject({
        schemaVersion,
        time: text('The time of the event, RFC 3339.'),
        event: text("The event's kind. The other fields depend on it."),
      }),
      'An event of the hub.',
    ),
    commands: ['hub'],
  },
  'mock-serve': {
    about: 'The address and the credentials of a mock',
    schema: document('MockAddress', 'The address and the credentials of a mock.', {
      url: text("The mock's URL."),
      apiKey: text('Its API key.'),
      token: text('Its bearer token.'),
    }),
    commands: ['mock serve'],
  },
  'env-prune': {
    about: 'The environments that were deleted, or could not be',
    schema: document('PrunedEnvironments', 'The environments that were deleted, or could not be.', {
      environments: list(
        z.strictObject({
          id: textOrNull("The environment's id."),
          key: text('Its key.'),
          baseUrl: textOrNull('The URL of the deployment, without its query.'),
          createdAt: text('When rungate created it, RFC 3339.'),
          deleted: flag('Whether it was deleted.'),
          error: textOrNull('Why it was not deleted; null if it was.'),
        }),
        'Oldest first.',
      ),
    }),
    commands: ['env prune'],
  },
  'orders-verification': {
    about: 'Whether the summary of the orders adds up',
    schema: document('OrdersVerification', 'Whether the summary of the orders adds up.', {
      addsUp: field(
        z.nullable(z.boolean()),
        'Whether summary and list match; null if the orders changed while they were read.',
      ),
      orderCount: field(
        z.strictObject({
          stated: number('As in the summary.'),
          counted: number('The number of orders in the list.'),
        }),
        'The number of orders.',
      ),
      totalRevenue: field(z.strictObject(difference), 'The revenue, as decimal numbers.'),
      byCurrency: list(
        z.strictObject({
          currency: text("The currency's code."),
          count: number('The number of orders.'),
          total: text('Their sum, a decimal number.'),
        }),
        'The sums by currency, in alphabetical order.',
      ),
      summary: field(z.looseObject({}), 'The summary as the service sends it.'),
    }),
    commands: ['orders summary --verify'],
  },
  help: {
    about: 'Commands and their options',
    schema: document('Help', 'Commands and their options.', {
      version: text('The version of rungate.'),
      globalOptions: list(helpOption, 'The options of every command.'),
      commands: list(helpCommand, 'The commands, in the order of the help.'),
    }),
    commands: ['help'],
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

type Documents = typeof documents;
/** The type of a document. */
export type JsonDocument<Name extends keyof Documents> = z.infer<Documents[Name]['schema']>;

export type DoctorCheck = z.infer<typeof doctorCheck>;
export type PlannedFile = z.infer<typeof plannedFile>;
export type Diagnosis = z.infer<typeof diagnosis>;
export type HelpOption = z.infer<typeof helpOption>;
export type HelpCommand = z.infer<typeof helpCommand>;
