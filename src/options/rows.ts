// After a change, run `npm run generate`. It writes the schemas, types, pages and inputs that follow from the rows.
import {
  belowDeployment,
  choiceOf,
  count,
  duration,
  filledList,
  headerName,
  items,
  lines,
  nameList,
  type OptionType,
  onOff,
  overrides,
  pointer,
  retryCount,
  subjects,
  text,
  tokens,
  url,
} from './types.ts';

/** The commands whose options come from the rows. `every` has those of all commands. */
export type CommandName = 'every' | 'gate' | 'trigger' | 'wait' | 'init' | 'hub' | 'webhooks';

/** An option, wherever a user can set it. */
export interface OptionRow {
  readonly type: OptionType<unknown>;
  /** One line about it, as a clause. */
  readonly help: string;
  /** The parts that differ for `rungate gate` and the library's gates. */
  readonly forGate?: Partial<Pick<OptionRow, 'help' | 'no' | 'note' | 'default' | 'common'>>;
  /** The value that applies if nothing sets it. */
  readonly default?: string | undefined;
  /** A remark that the help has in parentheses, such as the value that the service or the CI gives. */
  readonly note?: string;
  /** The option on the command line, with its placeholder. */
  readonly flag?: string;
  /** The help of its negative form (`--no-strict`). */
  readonly no?: string;
  readonly commands?: readonly CommandName[];
  /** Whether the help shows it without `--all`. */
  readonly common?: true | undefined;
  /** The commands that have it only to explain why it does not work. */
  readonly unlisted?: readonly CommandName[];
  /** The heading in the help. */
  readonly group?: string;
  /** The list that completes its value. */
  readonly complete?: 'environments' | 'profiles';
  /** The environment variable. With `_FILE` appended, that of a secret takes the path of a file. */
  readonly env?: string;
  /** The places in a file: `top` of the file and of a profile, in a `gate` too, or only in a gate. A secret never. */
  readonly file?: 'top' | 'gate' | 'only gate';
  /** `sent`: a profile has it, tied to one service. `saved`: a profile has it. `variable`: only the environment has it. */
  readonly secret?: 'sent' | 'saved' | 'variable';
  /** The action's input: the name of the flag, or another one. */
  readonly input?: boolean | string;
  /** The option of the library's functions, where a duration is in milliseconds. */
  readonly library?: string;
  /** The sentences about it there, if they differ. */
  readonly libraryHelp?: string;
  /** The remedy if it is given twice, which is refused: the earlier value may be what was to be tested. */
  readonly single?: string;
  /** Whether a value of it can make a gate laxer: forgive a verdict, or accept another build. */
  readonly weakens?: true;
  /** The places where it has no default. */
  readonly required?: readonly ('input' | 'library')[];
}

const single = 'give it once';
const creating = ['gate', 'trigger'] as const;
const waiting = ['gate', 'trigger', 'wait'] as const;
const selection = { group: 'Selection:', common: true, file: 'gate', input: true, single } as const;
const build = {
  group: 'Build information:',
  commands: creating,
  file: 'only gate',
  input: true,
  single,
} as const;
const behaviour = { group: 'Behaviour:', input: true } as const;
const wait = { group: 'Wait options:', commands: waiting, input: true } as const;
const preview = {
  group: 'Preview deployment:',
  commands: ['gate'],
  file: 'gate',
  input: true,
  single,
} as const;
const deployed = { group: 'Deployed build:', commands: waiting, input: true, single } as const;
const reports = { group: 'Reports:', commands: waiting, input: true } as const;
const global = { group: 'Global options:', commands: ['every'] } as const;
const signing = { commands: ['webhooks', 'hub'], file: 'top' } as const;

/**
 * Every option that has more than one place. From a row follow the option on the command line with its help and completion, the
 * variable, the setting in files and profiles with its JSON schema, the action's input and the library's option.
 */
export const rows = {
  apiUrl: {
    ...global,
    type: url('service', 'apiUrl'),
    flag: '--api-url <url>',
    env: 'RUNGATE_API_URL',
    file: 'top',
    input: true,
    library: 'apiUrl',
    libraryHelp: "The service's base URL; may have a path prefix.",
    required: ['input', 'library'],
    help: 'base URL of the service',
  },
  config: {
    ...global,
    type: text,
    flag: '--config <file>',
    env: 'RUNGATE_CONFIG',
    input: true,
    help: 'project file, or none',
  },
  profile: {
    ...global,
    type: text,
    flag: '--profile <name>',
    env: 'RUNGATE_PROFILE',
    input: true,
    help: 'profile to use',
    complete: 'profiles',
  },
  auth: {
    ...global,
    type: choiceOf(['bearer', 'key']),
    flag: '--auth <kind>',
    file: 'top',
    library: 'auth',
    libraryHelp: 'The credential for endpoints that accept either. Default: the token, if it is set.',
    help: 'bearer or key, for endpoints that accept either',
  },
  format: {
    ...global,
    type: choiceOf(['table', 'json', 'ndjson']),
    flag: '--format <format>',
    file: 'top',
    help: 'output format: table, json or ndjson',
  },
  json: { ...global, common: true, type: onOff, flag: '--json', help: 'short for --format json' },
  quiet: { ...global, type: onOff, flag: '-q, --quiet', help: 'print only the result, warnings and errors' },
  verbose: {
    ...global,
    type: onOff,
    flag: '-v, --verbose',
    help: 'trace requests on stderr, and show the response behind an error',
  },
  caFile: {
    ...global,
    type: text,
    flag: '--ca-file <file>',
    file: 'top',
    input: true,
    help: 'additional trusted certificate authorities (PEM)',
  },
  certFile: {
    ...global,
    type: text,
    flag: '--cert-file <file>',
    input: true,
    help: 'client certificate for the service (PEM)',
  },
  keyFile: {
    ...global,
    type: text,
    flag: '--key-file <file>',
    input: true,
    help: "the client certificate's private key (PEM)",
    note: 'default: in --cert-file',
  },
  insecureHttp: {
    ...global,
    type: onOff,
    flag: '--insecure-http',
    library: 'insecureHttp',
    help: 'allow http: to hosts other than this machine',
  },
  requestTimeout: {
    ...global,
    type: duration,
    flag: '--request-timeout <duration>',
    input: true,
    library: 'requestTimeoutMs',
    libraryHelp: 'The timeout of one request; default 30 s.',
    note: 'default 30s',
    help: 'timeout of one request',
  },
  project: {
    ...selection,
    type: text,
    flag: '-p, --project <slug>',
    commands: [...creating, 'init'],
    env: 'RUNGATE_PROJECT',
    help: 'slug of the project',
  },
  process: {
    ...selection,
    type: text,
    flag: '--process <slug>',
    single: 'give it once; for several runs, list gates in .rungate.json',
    commands: [...creating, 'init'],
    help: 'slug of the process to run, unless tags are given',
  },
  tags: {
    ...selection,
    type: filledList,
    flag: '--tag <tag>',
    commands: [...creating, 'init'],
    input: 'tags',
    help: 'run the processes with these tags, unless a process is given; the service does not say whether one or all must match',
  },
  environment: {
    ...selection,
    type: text,
    flag: '-e, --environment <key>',
    commands: [...creating, 'init'],
    env: 'RUNGATE_ENVIRONMENT',
    help: 'key of the environment',
    note: "default: the project's default",
    complete: 'environments',
  },
  repository: {
    ...build,
    type: text,
    flag: '--repository <name>',
    help: 'repository',
    note: 'default: from CI or git',
  },
  ref: {
    ...build,
    type: text,
    flag: '--ref <ref>',
    help: 'branch or ref',
    note: 'default: from CI or git',
  },
  commitSha: {
    ...build,
    type: text,
    flag: '--commit-sha <sha>',
    help: 'commit hash',
    note: 'default: from CI or git; in a pull request, its head commit',
  },
  event: {
    ...build,
    type: text,
    flag: '--event <name>',
    help: 'event that triggered the pipeline',
    note: 'default: from CI',
  },
  externalUrl: {
    ...build,
    type: text,
    flag: '--external-url <url>',
    help: 'URL of the CI build',
    note: 'default: from CI',
  },
  needs: {
    type: nameList,
    file: 'only gate',
    library: 'needs',
    help: 'the gates that must pass, or pass with a warning, before this one starts',
  },
  advisory: {
    weakens: true,
    type: onOff,
    file: 'only gate',
    library: 'advisory',
    libraryHelp: 'Whether the gate can only warn; default false. No other gate may need it.',
    help: 'never fail because of this gate: it can only warn',
  },
  failFast: {
    ...behaviour,
    common: true,
    type: onOff,
    flag: '--fail-fast',
    commands: ['gate'],
    library: 'failFast',
    help: 'cancel the other gates when one fails',
  },
  idempotencyKey: {
    ...behaviour,
    type: text,
    flag: '--idempotency-key <key>',
    commands: creating,
    library: 'idempotencyKey',
    libraryHelp:
      'The idempotency key of the start: the same key never starts a second run. Default: with `env`, a key that the CI job and its re-runs share; otherwise a random one that only the retries of this call share.',
    help: 'idempotency key: the same key never starts a second run',
    note: 'default: auto',
  },
  idempotencySalt: {
    ...behaviour,
    type: text,
    flag: '--idempotency-salt <text>',
    commands: creating,
    library: 'idempotencySalt',
    libraryHelp: 'With `env`: distinguishes jobs that CI does not, such as matrix jobs.',
    help: 'text added to the automatic key, for example to distinguish matrix jobs',
  },
  explainKey: {
    ...behaviour,
    type: onOff,
    flag: '--explain-key',
    commands: creating,
    input: false,
    help: 'show on stderr how the key is made',
  },
  interval: {
    ...wait,
    common: true,
    type: duration,
    flag: '--interval <duration>',
    file: 'gate',
    library: 'intervalMs',
    libraryHelp: 'The time between two reads of a run, unless the service requests another; default 10,000.',
    default: '10s',
    help: 'time between status reads, unless the service requests another',
  },
  maxAttempts: {
    ...wait,
    type: count,
    flag: '--max-attempts <n>',
    file: 'gate',
    library: 'maxAttempts',
    libraryHelp: 'The maximum number of status reads of a run; default: no limit.',
    default: '60',
    forGate: { default: undefined, note: 'default: no limit' },
    note: 'about 10 minutes at 10s; unlimited if a timeout is set',
    help: 'maximum number of status reads',
  },
  timeout: {
    ...wait,
    common: true,
    type: duration,
    flag: '--timeout <duration>',
    file: 'gate',
    env: 'RUNGATE_TIMEOUT',
    library: 'timeoutMs',
    libraryHelp: 'The timeout of the whole wait; default an hour.',
    default: '60m',
    forGate: { help: 'maximum time to wait' },
    help: 'maximum time to wait; set it for runs of more than 10 minutes',
  },
  slice: {
    type: duration,
    group: 'Wait options:',
    commands: ['gate'],
    common: true,
    flag: '--slice <duration>',
    help: 'wait no longer than this; if the gate goes on, exit with 75 and name the command that continues it',
  },
  resume: {
    type: text,
    group: 'Wait options:',
    commands: ['gate'],
    flag: '--resume <id>',
    help: 'continue the gate that a slice names, or a detached one; only output options can be added',
  },
  new: {
    type: onOff,
    group: 'Wait options:',
    commands: ['gate'],
    flag: '--new',
    help: 'with --slice: start a new run, even if an earlier gate has not ended',
  },
  detach: {
    type: onOff,
    group: 'Wait options:',
    commands: ['gate'],
    common: true,
    flag: '--detach',
    help: 'in a job of a pull request or a merge queue on GitHub: start the run, leave the verdict to a commit status, and end; needs a hub',
  },
  resumePending: {
    type: onOff,
    group: 'Wait options:',
    commands: ['gate'],
    flag: '--resume-pending',
    help: 'continue the detached gates of this repository that no job continues: for a scheduled workflow',
  },
  retries: {
    ...wait,
    common: true,
    weakens: true,
    type: retryCount,
    flag: '--retries <n>',
    unlisted: ['wait'],
    file: 'gate',
    library: 'retries',
    libraryHelp:
      'How many new runs to start, each only if the previous one failed; default 0. Only with `trigger`. If a later run passes, the verdict is `flaky`. All runs together stay within `timeoutMs`.',
    note: 'default 0',
    help: 'number of new runs to start, each only if the previous one failed',
  },
  strict: {
    ...wait,
    common: true,
    weakens: true,
    type: onOff,
    flag: '--strict',
    no: 'override strict in the settings',
    file: 'gate',
    env: 'RUNGATE_STRICT',
    library: 'strict',
    libraryHelp: 'Whether a cancelled run fails the gate; default true. Otherwise it is a warning.',
    help: 'also fail on a cancelled run; recommended in pipelines',
    forGate: {
      help: 'also fail on a cancelled run',
      note: 'default: on',
      no: 'let a cancelled run pass with a warning',
      common: undefined,
    },
  },
  on: {
    ...wait,
    weakens: true,
    type: overrides,
    flag: '--on <verdict=action>',
    file: 'gate',
    library: 'on',
    libraryHelp: 'Actions for single verdicts; they override `strict`.',
    help: 'action for a verdict: pass, warn or fail, such as failed=warn,blocked=warn',
  },
  cancelOnTimeout: {
    ...wait,
    type: onOff,
    flag: '--cancel-on-timeout',
    library: 'cancelOnTimeout',
    help: 'cancel a run that does not end in time',
  },
  cancelOnInterrupt: {
    ...wait,
    type: onOff,
    flag: '--cancel-on-interrupt',
    no: 'leave the run going when rungate is stopped',
    library: 'cancelOnAbort',
    libraryHelp:
      'Whether an abort cancels the runs that have not ended; default true with `trigger`, false with `runIds`.',
    note: 'default if the command creates the run',
    forGate: { note: 'default: on' },
    help: 'cancel the run when rungate is stopped',
  },
  'preview.baseUrl': {
    ...preview,
    type: url('deployment', 'preview.baseUrl'),
    flag: '--base-url <url>',
    library: 'preview.baseUrl',
    required: ['library'],
    common: true,
    note: 'needs a bearer token',
    help: 'deployment to test: an environment is created for it and deleted afterwards',
  },
  'preview.copyVariables': {
    ...preview,
    type: onOff,
    flag: '--copy-variables',
    library: 'preview.copyVariables',
    help: 'when an environment is copied, copy its variables as well',
  },
  'preview.readyUrl': {
    ...preview,
    type: url('page', 'preview.readyUrl', belowDeployment),
    flag: '--ready-url <url>',
    library: 'preview.readyUrl',
    libraryHelp:
      'The page that has to respond with 2xx or 3xx before the environment is created; default: the deployment.',
    help: 'page that has to respond first',
    note: 'default: the base URL',
  },
  'preview.readyTimeout': {
    ...preview,
    type: duration,
    flag: '--ready-timeout <duration>',
    library: 'preview.readyTimeoutMs',
    libraryHelp: 'How long to wait until the deployment responds; default 5 minutes.',
    default: '5m',
    help: 'maximum time to wait until the deployment responds',
  },
  'deployed.url': {
    ...deployed,
    common: true,
    type: url('page', 'deployed.url', belowDeployment),
    flag: '--deployed-url <url>',
    file: 'top',
    library: 'deployed.url',
    required: ['library'],
    help: 'page that shows the version of the deployed build; the gate fails unless it is the expected version',
  },
  'deployed.pointer': {
    ...deployed,
    weakens: true,
    type: pointer,
    flag: '--deployed-pointer <pointer>',
    file: 'top',
    library: 'deployed.pointer',
    help: 'JSON pointer to the version',
    note: 'default: the whole body',
  },
  'deployed.is': {
    ...deployed,
    weakens: true,
    type: text,
    flag: '--deployed-is <text>',
    file: 'top',
    library: 'deployed.is',
    libraryHelp: 'The expected version. Default: `trigger.commitSha`, and with `env` the commit of the job.',
    help: 'expected version',
    note: 'default: the commit from CI or git',
  },
  'deployed.timeout': {
    ...deployed,
    commands: creating,
    type: duration,
    flag: '--deployed-timeout <duration>',
    file: 'top',
    library: 'deployed.timeoutMs',
    libraryHelp: 'How long to wait for the version before the run is created; default 5 minutes.',
    default: '5m',
    help: 'maximum time to wait for the version before the run is created',
  },
  deployedHeaderFile: {
    ...deployed,
    type: text,
    flag: '--deployed-header-file <file>',
    help: 'file with headers for the page, one "Name: value" per line',
  },
  junit: {
    ...reports,
    common: true,
    type: text,
    flag: '--junit <file>',
    help: 'file for the result as JUnit XML, one test case per run',
  },
  report: {
    ...reports,
    common: true,
    type: items,
    flag: '--report <file>',
    help: 'file for the result, as JSON unless its extension is .md or .env',
  },
  receipt: {
    ...reports,
    type: text,
    flag: '--receipt <path>',
    help: 'file for a signed receipt of the result; a folder/ for several gates',
    note: 'key: RUNGATE_RECEIPT_KEY',
  },
  'receipt.subjects': {
    ...reports,
    weakens: true,
    type: subjects,
    flag: '--subject <name@sha256:hex>',
    file: 'top',
    library: 'subjects',
    libraryHelp:
      'The images and files that are tested, as `name@sha256:hex`: subjects of the receipt, beside the commit. Without `deployed.is`, the version page may show one of their digests.',
    help: 'tested image or file, by digest, for the receipt and the deployed build',
  },
  subjectFile: {
    ...reports,
    type: items,
    flag: '--subject-file <file>',
    help: 'tested file: like --subject, with the digest of its content',
  },
  ciReport: {
    ...reports,
    type: onOff,
    flag: '--ci-report',
    unlisted: waiting,
    no: 'write no outputs, summary, annotations or variables for CI',
    input: false,
    help: 'report to CI',
  },
  'hub.url': {
    type: url('hub', 'hub.url'),
    env: 'RUNGATE_HUB_URL',
    file: 'top',
    input: 'hub-url',
    library: 'hub.url',
    libraryHelp: "The hub's base URL; may have a path prefix.",
    required: ['library'],
    help: 'base URL of the hub that schedules the requests of the gates',
  },
  'run.idPointer': {
    type: pointer,
    file: 'top',
    library: 'idPointer',
    libraryHelp: "JSON pointer to a new run's id in the response; default: the usual places.",
    help: "JSON pointer to a new run's id in the response",
  },
  'env.providerModelField': {
    type: text,
    file: 'top',
    library: 'providerModelField',
    libraryHelp:
      "The service's name for the field `providerModel` of an environment; the real name contains a vendor name.",
    help: "the service's name for the field providerModel",
  },
  'webhook.timestampHeader': {
    ...signing,
    type: headerName,
    flag: '--timestamp-header <name>',
    help: "the service's name for X-Service-Timestamp",
  },
  'webhook.signatureHeader': {
    ...signing,
    type: headerName,
    flag: '--signature-header <name>',
    help: "the service's name for X-Service-Signature",
  },
  apiKey: {
    type: text,
    secret: 'sent',
    env: 'RUNGATE_API_KEY',
    input: 'api-key',
    required: ['input'],
    library: 'apiKey',
    help: 'API key',
  },
  token: {
    type: text,
    secret: 'sent',
    env: 'RUNGATE_TOKEN',
    input: 'token',
    library: 'token',
    help: 'bearer token of a user session',
  },
  headers: {
    type: lines,
    secret: 'variable',
    env: 'RUNGATE_HEADERS',
    input: 'headers',
    help: 'extra headers of the requests to the service, one "Name: value" per line',
  },
  webhookSecrets: {
    type: lines,
    secret: 'saved',
    env: 'RUNGATE_WEBHOOK_SECRET',
    help: 'secrets that sign deliveries: during a rotation, several, one per line',
  },
  tenantSecret: {
    type: text,
    secret: 'saved',
    env: 'RUNGATE_TENANT_SECRET',
    help: "the tenant's secret that signs deliveries",
  },
  hubTokens: {
    type: tokens,
    secret: 'variable',
    env: 'RUNGATE_HUB_TOKEN',
    input: 'hub-token',
    library: 'hub.token',
    libraryHelp: "One of the hub's tokens.",
    required: ['library'],
    help: 'tokens of the hub, one per line: a hub accepts all of them, a gate sends the first',
  },
  githubToken: {
    type: text,
    secret: 'variable',
    env: 'RUNGATE_GITHUB_TOKEN',
    help: 'token of GitHub: a gate with --detach sets commit statuses with it, a hub starts jobs',
  },
  receiptKey: {
    type: text,
    secret: 'variable',
    env: 'RUNGATE_RECEIPT_KEY',
    help: 'private key that signs receipts (PEM)',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
