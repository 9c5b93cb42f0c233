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

/** The options that say which reports are written. */
export interface ReportFlags {
  junit?: string;
  report?: string[];
  ciReport?: boolean;
}

/** The options of a wait, as they were given. */
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

export function addWaitFlags(command: Command, owned: boolean): Command {
  command
    .optionsGroup('Wait options:')
    .option('--interval <duration>', 'between polls, unless the service says otherwise (default 10s)')
    .option(
      '--max-attempts <n>',
      'status reads at most (default 60: at 10s they end after about 10 minutes; lifted by --timeout)',
    )
    .option('--timeout <duration>', 'wait at most (default 60m); needed for runs of more than 10 minutes')
    .option('--fleet-size <n>', 'gates that share the service: their requests take turns')
    .option('--fleet-index <i>', 'which of them this is, from 0')
    .option('--strict', 'fail on a cancelled run too; every pipeline should')
    .addOption(new Option('--no-strict', 'undo a --strict from a setting'))
    .option('--on <verdict=action>', 'pass, warn or fail on a verdict (repeatable)', collect)
    .option('--cancel-on-timeout', 'cancel a run that has not ended in time')
    .option('--cancel-on-interrupt', `cancel when we are stopped${owned ? ' (default)' : ''}`)
    .option(
      '--no-cancel-on-interrupt',
      `leave the run going when we are stopped${owned ? '' : ' (default)'}`,
    );
  command
    .optionsGroup('Reports:')
    .option('--junit <file>', 'write the result as JUnit XML, a case per run')
    .option(
      '--report <file>',
      'write it as JSON; as .md, .env or .teamcity by that ending (repeatable)',
      collect,
    )
    .addOption(new Option('--ci-report').hideHelp())
    .option('--no-ci-report', 'tell the CI nothing: no outputs, summary, annotations, variables');
  return completes(command, '--on', { from: 'overrides' });
}

/** Refuses, before anything is sent, what could not be written afterwards. */
export function checkReportFlags(flags: ReportFlags): void {
  const files = [...(flags.junit === undefined ? [] : [flags.junit]), ...(flags.report ?? [])];
  if (files.some((file) => file.trim() === '' || file === '-')) {
    throw new UsageError('a report needs a file: standard output has the result itself', {
      hint: 'write --report gate.json; for JSON on standard output, --json',
    });
  }
  const places = files.map((file) => resolve(file));
  if (new Set(places).size < places.length) {
    throw new UsageError('two reports have the same file: one would replace the other', {
      hint: 'give each a file of its own',
    });
  }
  const xml = flags.report?.find((file) => file.toLowerCase().endsWith('.xml'));
  if (xml !== undefined) {
    throw new UsageError(`--report writes JSON, and ${JSON.stringify(excerpt(xml, 80))} is a name for XML`, {
      hint: `for JUnit XML, write --junit ${excerpt(xml, 80)}; for JSON, a name that ends in .json`,
    });
  }
}

function parseCount(option: string, what: string, text: string, least: number): number {
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : -1;
  if (count >= least) return count;
  throw new UsageError(`${option}: "${text}" is not a number of ${what}`, {
    hint: `write a whole number from ${least} up`,
  });
}

/**
 * The gate's place in its fleet; undefined without one. A fleet whose size alone is known takes any place: the load
 * is right on average then, and two gates may share a turn.
 */
export function fleetOf(settings: Settings, flags: WaitFlags, random: () => number): Fleet | undefined {
  const size = settings.fleetSize?.value;
  const index =
    flags.fleetIndex === undefined ? undefined : parseCount('--fleet-index', 'gates', flags.fleetIndex, 0);
  if (size === undefined) {
    if (index === undefined) return undefined;
    throw new UsageError('--fleet-index says nothing without the size of the fleet', {
      hint: 'add --fleet-size <n>',
    });
  }
  if (index !== undefined && index >= size) {
    throw new UsageError(`--fleet-index ${index} is not in a fleet of ${size}`, {
      hint: `the gates of the fleet are counted from 0 to ${size - 1}`,
    });
  }
  return { size, index: index ?? Math.floor(random() * size) };
}

/** The settings that the wait options give. */
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
  ciReport: '--no-ci-report',
};

/** The wait options that were given, by name: they mean nothing where nothing is waited for. */
export function givenWaitFlags(flags: WaitFlags): string[] {
  const given = Object.entries(waitFlagNames).filter(([key]) => flags[key as keyof WaitFlags] !== undefined);
  return given.map(([, name]) => (name === '--strict' && flags.strict === false ? '--no-strict' : name));
}

/** What the settings make of a wait. */
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
