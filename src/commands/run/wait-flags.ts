import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import type { Fleet } from '../../gate/fleet/slots.ts';
import { resolveLimits } from '../../gate/limits.ts';
import { type Policy, parseOverride } from '../../gate/policy.ts';
import { excerpt } from '../../sanitize.ts';
import { policyOf } from '../../settings/merge.ts';
import type { Settings, SettingValues } from '../../settings/names.ts';
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
  strict?: boolean;
  on?: string[];
  cancelOnTimeout?: boolean;
  cancelOnInterrupt?: boolean;
}

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** Returns the tags of one `--tag`: separated by commas, as in settings and in the action. */
export function tagsOf(given: string): string[] {
  const tags = given.split(/[,\n]/).map((tag) => tag.trim());
  filled('--tag', tags.join(''));
  return tags.filter((tag) => tag !== '');
}

export function addWaitFlags(command: Command, owned: boolean): Command {
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
    .optionsGroup('Reports:')
    .option('--junit <file>', 'write the result as JUnit XML, one test case per run')
    .option(
      '--report <file>',
      'write the result as JSON, or in the format of the extension .md, .env or .teamcity (repeatable)',
      collect,
    )
    .option(
      '--receipt <file>',
      'write a signed receipt of the result for later jobs (key: RUNGATE_RECEIPT_KEY)',
    )
    .addOption(new Option('--ci-report').hideHelp())
    .option('--no-ci-report', 'write no outputs, summary, annotations or variables for the CI');
  return completes(command, '--on', { from: 'overrides' });
}

/** Refuses report files that could not be written later, before anything is sent. */
export function checkReportFlags(flags: ReportFlags): void {
  const files = [flags.junit ?? [], flags.report ?? [], flags.receipt ?? []].flat();
  if (files.some((file) => file.trim() === '' || file === '-')) {
    throw new UsageError('a report needs a file: standard output already has the result', {
      hint: 'name a file, such as --report gate.json; for JSON on standard output, use --json',
    });
  }
  const paths = files.map((file) => resolve(file));
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

/** Returns the settings that the wait options set. */
export function waitSettings(flags: WaitFlags): Partial<SettingValues> {
  checkReportFlags(flags);
  const { interval, timeout, maxAttempts, fleetSize, strict, on } = flags;
  return {
    ...(interval === undefined ? {} : { interval: parseDuration('--interval', interval) }),
    ...(timeout === undefined ? {} : { timeout: parseDuration('--timeout', timeout) }),
    ...(maxAttempts === undefined
      ? {}
      : { maxAttempts: parseCount('--max-attempts', 'reads', maxAttempts, 1) }),
    ...(fleetSize === undefined ? {} : { fleetSize: parseCount('--fleet-size', 'gates', fleetSize, 1) }),
    ...(strict === undefined ? {} : { strict }),
    ...(on === undefined ? {} : { on: Object.fromEntries(on.map(parseOverride)) }),
  };
}

const waitFlagNames: Record<keyof WaitFlags, string> = {
  interval: '--interval',
  maxAttempts: '--max-attempts',
  timeout: '--timeout',
  fleetSize: '--fleet-size',
  fleetIndex: '--fleet-index',
  strict: '--strict',
  on: '--on',
  cancelOnTimeout: '--cancel-on-timeout',
  cancelOnInterrupt: '--cancel-on-interrupt',
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

/** Returns the policy and the limits of a wait from the settings. */
export function waitRules(settings: Settings) {
  const { interval, timeout, maxAttempts } = settings;
  const policy = Object.entries(policyOf(settings)).map(([verdict, { value }]) => [verdict, value]);
  const chosen = <T>(setting: { value: T; origin: string } | undefined) =>
    setting?.origin === 'default' ? undefined : setting?.value;
  return {
    policy: Object.fromEntries(policy) as Policy,
    ...resolveLimits({
      intervalMs: chosen(interval),
      timeoutMs: chosen(timeout),
      maxAttempts: chosen(maxAttempts),
    }),
  };
}
