import { resolve, sep } from 'node:path';
import { UsageError } from '../../errors.ts';
import { type Rules, usualLimits } from '../../gate/limits.ts';
import type { Policy } from '../../gate/policy.ts';
import type { Flags, OptionRow } from '../../options/table.ts';
import { policySettings } from '../../settings/merge.ts';
import type { Settings } from '../../settings/names.ts';
import { givenOptions } from '../options.ts';

/** The value of RUNGATE_HUB_URL that turns off a hub of the project file or the profile. */
export const noHub = 'none';

const windows = sep === '\\';

/** Refuses report files that could not be written later, before anything is sent. */
export function checkReportFlags({ junit, report, receipt }: Flags): void {
  const files = [junit ?? [], report ?? [], receipt ?? []].flat();
  if (files.some((file) => file.trim() === '' || file === '-')) {
    throw new UsageError(
      '--junit, --report and --receipt need a file: standard output already has the result',
      {
        hint: 'name a file, such as --report gate.json; for JSON on standard output, use --json',
      },
    );
  }
  const paths = files.map((file) => (windows ? resolve(file).toLowerCase() : resolve(file)));
  if (new Set(paths).size < paths.length) {
    throw new UsageError('two reports have the same file: one would overwrite the other', {
      hint: 'give each report its own file',
    });
  }
}

const isDeployedRow = ({ group }: OptionRow) => group === 'Deployed build:';

export const deployedFlags = (flags: Flags) => givenOptions(flags, isDeployedRow);

export const waitFlags = (flags: Flags) =>
  givenOptions(
    flags,
    (row) => row.group === 'Wait options:' || row.group === 'Reports:' || isDeployedRow(row),
  );

/** Returns whether the gate checks the deployed build, or has an option for that. */
export function asksForBuild(settings: Settings, flags: Flags): boolean {
  return settings['deployed.url'] !== undefined || deployedFlags(flags).length > 0;
}

/** Returns the rules of a gate. A timeout that is set lifts the default number of status reads, which would end the wait long before. */
export function waitRules(settings: Settings): Rules {
  const { interval, timeout, maxAttempts, retries } = settings;
  const policy = Object.entries(policySettings(settings)).map(([verdict, { value }]) => [verdict, value]);
  const isLifted = timeout?.origin !== 'default' && maxAttempts?.origin === 'default';
  return {
    policy: Object.fromEntries(policy) as Policy,
    retries: retries?.value,
    intervalMs: interval?.value ?? usualLimits.intervalMs,
    timeoutMs: timeout?.value ?? usualLimits.timeoutMs,
    maxAttempts: isLifted || maxAttempts === undefined ? Number.POSITIVE_INFINITY : maxAttempts.value,
  };
}
