/** Command names of other tools and their equivalents in rungate, of which the first one in the group is suggested. */
export const synonyms: Readonly<Record<string, readonly string[]>> = {
  environment: ['env'],
  environments: ['env'],
  envs: ['env'],
  view: ['get', 'status', 'list'],
  show: ['get', 'status', 'list'],
  get: ['status', 'list'],
  describe: ['get', 'status', 'list'],
  ls: ['list'],
  watch: ['wait', 'listen'],
  start: ['trigger'],
  create: ['trigger'],
  new: ['create', 'trigger'],
  add: ['create'],
  edit: ['update', 'set'],
  set: ['update'],
  rm: ['delete', 'unset', 'cancel'],
  remove: ['delete', 'unset', 'cancel'],
  delete: ['unset', 'cancel'],
  stop: ['cancel'],
  abort: ['cancel'],
};

type Row = readonly [given: RegExp, hint: string];

const doctor = 'rungate doctor shows which credential is used and whether the service accepts it';

/** Hints for command lines of other tools that have no single equivalent. */
const lines: readonly Row[] = [
  [/^rungate version\b/, 'write rungate --version'],
  [/^rungate (?:whoami|auth (?:status|whoami))\b/, doctor],
  [/^rungate auth logout\b/, 'write rungate logout'],
  [/^rungate auth\b/, 'write rungate login'],
  [
    /^rungate run (?:list|ls)\b/,
    'the service has no list of runs; rungate run trigger prints the id of a run, and rungate run status <runId> shows it',
  ],
  [/^rungate run (?:rerun|retry|restart)\b/, 'rungate run trigger starts a new run'],
];

/** Hints for options that a command does not have on purpose. */
const leftOut: readonly Row[] = [
  [/^rungate run gates --(?:no-)?wait$/, 'run gates always waits'],
  [/^rungate run gates --(?:process|tags?)$/, 'each gate in .rungate.json has its own process or tags'],
  [
    /^rungate run gates --(?:gates?|name)$/,
    'write the names of gates without an option: rungate run gates web',
  ],
  [
    /^rungate run gates --idempotency-key$/,
    'each gate has its own automatic key; --idempotency-salt changes all of them',
  ],
];

const options: readonly Row[] = [
  [/ -V$/, 'write rungate --version'],
  [/ -o| --output$/, 'write --json or --format <format>'],
  [/ --(?:no-)?colou?r$/, 'set NO_COLOR=1 in the environment for output without colours'],
];

const hintOf = (rows: readonly Row[], given: string) => rows.find(([row]) => row.test(given))?.[1] ?? null;

/** Returns a hint for a command line of another tool, or null. */
export const lineInstead = (line: string) => hintOf(lines, line);

/** Returns a hint for an option that this command does not have on purpose, or null. */
export const optionLeftOut = (command: string, option: string) => hintOf(leftOut, `${command} ${option}`);

/** Returns a hint for an option of another tool, or null. */
export const optionOfOthers = (command: string, option: string) => hintOf(options, `${command} ${option}`);
