import { basename, resolve, sep } from 'node:path';
import { type Command, Option } from 'commander';
import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import type { Fleet } from '../../gate/fleet/slots.ts';
import { mostRetries, resolveLimits } from '../../gate/limits.ts';
import { type Policy, parseOverride } from '../../gate/policy.ts';
import { excerpt } from '../../sanitize.ts';
import { policyOf } from '../../settings/merge.ts';
import type { Settings, SettingValues } from '../../settings/names.ts';
import { echoed } from '../../suggest.ts';
import { completes } from '../completion/completes.ts';
import { filled } from '../global-options.ts';

/** The options for reports. */
export interface ReportFlags {
  junit?: string;
  report?: string[];
  receipt?: string;
  ciReport?: boolean;
}

/** The options of a wait, unparsed. */
export interface WaitFlags extends ReportFlags {
  interval?: string;
  maxAttempts?: string;
  timeout?: string;
  fleetSize?: string;
  fleetIndex?: string;
  retries?: string;
  strict?: boolean;
  on?: string[];
  cancelOnTimeout?: boolean;
  cancelOnInterrupt?: boolean;
  deployedUrl?: string;
  deployedPointer?: string;
  deployedIs?: string;
  deployedTimeout?: string;
  deployedHeaderFile?: string;
}

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** Returns the names in one value of an option: separated by commas, as in settings and in the action. */
export function namesIn(option: string, given: string): string[] {
  const names = given.split(/[,\n]/).map((name) => name.trim());
  filled(option, names.join(''));
  return names.filter((name) => name !== '');
}

export const tagsOf = (given: string) => namesIn('--tag', given);

/**
 * @param owned the command creates the runs that it waits for
 * @param single the command is one gate, which can have a receipt
 */
export function addWaitFlags(command: Command, owned: boolean, single = true): Command {
  command
    .optionsGroup('Wait options:')
    .option(
      '--interval <duration>',
      'time between status reads, unless the service requests another (default 10s)',
    )
    .option(
      '--max-attempts <n>',
      'maximum number of status reads (default 60, about 10 minutes at 10s; unlimited with --timeout)',
    )
    .option(
      '--timeout <duration>',
      'maximum time to wait (default 60m); set it for runs of more than 10 minutes',
    )
    .addOption(
      new Option('--retries <n>', 'number of new runs to start, each only if the last one failed').hideHelp(
        !owned,
      ),
    )
    .option('--fleet-size <n>', "number of gates that share the service's rate limits")
    .option('--fleet-index <i>', 'index of this gate in the fleet, from 0')
    .option('--strict', 'also fail on a cancelled run; recommended in pipelines')
    .addOption(new Option('--no-strict', 'override strict in the settings'))
    .option('--on <verdict=action>', 'action for a verdict: pass, warn or fail (repeatable)', collect)
    .option('--cancel-on-timeout', 'cancel a run that does not end in time')
    .option('--cancel-on-interrupt', `cancel the run when rungate is stopped${owned ? ' (default)' : ''}`)
    .option(
      '--no-cancel-on-interrupt',
      `leave the run going when rungate is stopped${owned ? '' : ' (default)'}`,
    );
  command
    .optionsGroup('Deployed build:')
    .option(
      '--deployed-url <url>',
      'page that shows the version of the deployed build; the gate fails unless it is the expected one',
    )
    .option('--deployed-pointer <pointer>', 'JSON pointer to the version (default: the whole body)')
    .option('--deployed-is <text>', 'expected version (default: the commit from the CI or git)')
    .option('--deployed-header-file <file>', 'headers for the page, one "Name: value" in each line');
  if (owned)
    command.option(
      '--deployed-timeout <duration>',
      'maximum time to wait for the version before the run is created (default 5m)',
    );
  command
    .optionsGroup('Reports:')
    .option('--junit <file>', 'write the result as JUnit XML, one test case per run')
    .option(
      '--report <file>',
      'write the result as JSON, or in the format of the extension .md, .env or .teamcity (repeatable)',
      collect,
    )
    .addOption(
      new Option(
        '--receipt <file>',
        'write a signed receipt of the result for later jobs (key: RUNGATE_RECEIPT_KEY)',
      ).hideHelp(!single),
    )
    .addOption(new Option('--ci-report').hideHelp())
    .option('--no-ci-report', 'write no outputs, summary, annotations or variables for the CI');
  return completes(command, '--on', { from: 'overrides' });
}

const windows = sep === '\\';
/** Node would create a file with such a name, which other programs can neither read nor delete. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Refuses report files that could not be written later, before anything is sent. */
export function checkReportFlags(flags: ReportFlags): void {
  const files = [flags.junit ?? [], flags.report ?? [], flags.receipt ?? []].flat();
  if (files.some((file) => file.trim() === '' || file === '-')) {
    throw new UsageError(
      '--junit, --report and --receipt need a file: standard output already has the result',
      {
        hint: 'name a file, such as --report gate.json; for JSON on standard output, use --json',
      },
    );
  }
  const url = files.find((file) => /^file:/i.test(file));
  if (url !== undefined) {
    throw new UsageError(`a report needs a path, not a URL: ${excerpt(url, 80)}`, {
      hint: 'write the path without file://',
    });
  }
  const device = files.find(
    (file) => windows && file.toLowerCase() !== 'nul' && devices.test(basename(file)),
  );
  if (device !== undefined) {
    throw new UsageError(`${excerpt(device, 80)} is the name of a device on Windows`, {
      hint: 'choose another name for the report',
    });
  }
  const paths = files.map((file) => (windows ? resolve(file).toLowerCase() : resolve(file)));
  if (new Set(paths).size < paths.length) {
    throw new UsageError('two reports have the same file: one would overwrite the other', {
      hint: 'give each report its own file',
    });
  }
  const xml = flags.report?.find((file) => file.toLowerCase().endsWith('.xml'));
  if (xml !== undefined) {
    throw new UsageError(`--report writes JSON, but ${JSON.stringify(excerpt(xml, 80))} ends in .xml`, {
      hint: `for JUnit XML, write --junit ${excerpt(xml, 80)}; for JSON, a name that ends in .json`,
    });
  }
}

function parseCount(option: string, what: string, text: string, least: number): number {
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : -1;
  if (count >= least) return count;
  throw new UsageError(`${option}: "${text}" is not a number of ${what}`, {
    hint: `use a whole number, ${least} or more`,
  });
}

function parseRetries(text: string): number {
  const count = parseCount('--retries', 'retries', text, 0);
  if (count <= mostRetries) return count;
  throw new UsageError(`--retries: ${count} is too high`, { hint: `use ${mostRetries} or less` });
}

/**
 * Returns the gate's place in its fleet, or undefined without a fleet. Without an index it takes a random place: the load
 * is right on average, but two gates may share a turn.
 */
export function fleetOf(settings: Settings, flags: WaitFlags, random: () => number): Fleet | undefined {
  const size = settings.fleetSize?.value;
  const index =
    flags.fleetIndex === undefined ? undefined : parseCount('--fleet-index', 'gates', flags.fleetIndex, 0);
  if (size === undefined) {
    if (index === undefined) return undefined;
    throw new UsageError('--fleet-index has no effect without the size of the fleet', {
      hint: 'add --fleet-size <n>',
    });
  }
  if (index !== undefined && index >= size) {
    throw new UsageError(`--fleet-index ${index} is too high for a fleet of ${size}`, {
      hint: `the indexes go from 0 to ${size - 1}`,
    });
  }
  return { size, index: index ?? Math.floor(random() * size) };
}

/** Returns the pointer. @throws UsageError if it is not one */
function pointerOf(text: string): string {
  if (text.startsWith('/')) return text;
  throw new UsageError(`--deployed-pointer: ${echoed(text)} is not a JSON pointer`, {
    hint: 'write a pointer such as /version or /build/commit; leave it out for the whole body',
  });
}

/** Returns the settings that the wait options set. */
export function waitSettings(flags: WaitFlags): Partial<SettingValues> {
  checkReportFlags(flags);
  const { interval, timeout, maxAttempts, fleetSize, retries, strict, on } = flags;
  const { deployedUrl, deployedPointer, deployedIs, deployedTimeout } = flags;
  filled('--deployed-header-file', flags.deployedHeaderFile);
  return {
    ...(interval === undefined ? {} : { interval: parseDuration('--interval', interval) }),
    ...(timeout === undefined ? {} : { timeout: parseDuration('--timeout', timeout) }),
    ...(maxAttempts === undefined
      ? {}
      : { maxAttempts: parseCount('--max-attempts', 'reads', maxAttempts, 1) }),
    ...(fleetSize === undefined ? {} : { fleetSize: parseCount('--fleet-size', 'gates', fleetSize, 1) }),
    ...(retries === undefined ? {} : { retries: parseRetries(retries) }),
    ...(strict === undefined ? {} : { strict }),
    ...(deployedUrl === undefined ? {} : { 'deployed.url': filled('--deployed-url', deployedUrl) ?? '' }),
    ...(deployedPointer === undefined ? {} : { 'deployed.pointer': pointerOf(deployedPointer) }),
    ...(deployedIs === undefined ? {} : { 'deployed.is': filled('--deployed-is', deployedIs) ?? '' }),
    ...(deployedTimeout === undefined
      ? {}
      : { 'deployed.timeout': parseDuration('--deployed-timeout', deployedTimeout) }),
    ...(on === undefined ? {} : { on: Object.fromEntries(on.map(parseOverride)) }),
  };
}

const waitFlagNames: Record<keyof WaitFlags, string> = {
  interval: '--interval',
  maxAttempts: '--max-attempts',
  timeout: '--timeout',
  fleetSize: '--fleet-size',
  fleetIndex: '--fleet-index',
  retries: '--retries',
  strict: '--strict',
  on: '--on',
  cancelOnTimeout: '--cancel-on-timeout',
  cancelOnInterrupt: '--cancel-on-interrupt',
  deployedUrl: '--deployed-url',
  deployedPointer: '--deployed-pointer',
  deployedIs: '--deployed-is',
  deployedTimeout: '--deployed-timeout',
  deployedHeaderFile: '--deployed-header-file',
  junit: '--junit',
  report: '--report',
  receipt: '--receipt',
  ciReport: '--no-ci-report',
};

/** Returns the names of the wait options that were given. */
export function givenWaitFlags(flags: WaitFlags): string[] {
  const given = Object.entries(waitFlagNames).filter(([key]) => flags[key as keyof WaitFlags] !== undefined);
  return given.map(([, name]) => (name === '--strict' && flags.strict === false ? '--no-strict' : name));
}

/** Returns whether the gate checks the deployed build, or has an option for that. */
export function asksForBuild(settings: Settings, flags: WaitFlags): boolean {
  return (
    settings['deployed.url'] !== undefined ||
    givenWaitFlags(flags).some((name) => name.startsWith('--deployed-'))
  );
}

/** Returns the policy and the limits of a wait from the settings. */
export function waitRules(settings: Settings) {
  const { interval, timeout, maxAttempts, retries } = settings;
  const policy = Object.entries(policyOf(settings)).map(([verdict, { value }]) => [verdict, value]);
  const chosen = <T>(setting: { value: T; origin: string } | undefined) =>
    setting?.origin === 'default' ? undefined : setting?.value;
  return {
    policy: Object.fromEntries(policy) as Policy,
    retries: retries?.value,
    ...resolveLimits({
      intervalMs: chosen(interval),
      timeoutMs: chosen(timeout),
      maxAttempts: chosen(maxAttempts),
    }),
  };
}
