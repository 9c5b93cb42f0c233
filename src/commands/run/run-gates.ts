import { ConfigError } from '../../errors.ts';
import { intervalNote } from '../../gate/limits.ts';
import { type PlannedGate, unnamed } from '../../gate/plan/plan.ts';
import { type OpenGateOptions, type OpenOptions, openGate } from '../../library/open-gate.ts';
import type { Reporter } from '../../library/reporter.ts';
import type { Settings } from '../../settings/names.ts';
import { isLocal } from '../../transport/address.ts';
import { gateStops } from '../ci-context.ts';
import { hubOptionsOf } from '../connect.ts';
import type { Context } from '../context.ts';
import { openSlice } from '../gate/slice.ts';
import type { ResumedGate } from '../gate/store.ts';
import { printClosing } from './closing.ts';
import { deployedOptions } from './deployed.ts';
import { printRequests } from './dry-run.ts';
import { type ChosenGate, planGates } from './plan.ts';
import { progressReporters } from './progress.ts';
import { replaceReceipts } from './receipts.ts';
import { checkFiles, writeReports } from './reports.ts';
import { printGate } from './result.ts';

/** Returns the warnings about short intervals, each once. @throws UsageError or ConfigError below 1 s */
function intervalNotes(gates: readonly PlannedGate<Settings>[], local: boolean): Set<string> {
  const notes = gates.flatMap(({ settings: { interval }, rules: { intervalMs }, name }) => {
    if (interval?.origin === 'flag') return intervalNote('--interval', intervalMs, local) ?? [];
    const setting = name === unnamed ? 'the setting interval' : `the setting interval of gate ${name}`;
    return intervalNote(setting, intervalMs, local, ConfigError) ?? [];
  });
  return new Set(notes);
}

/** Nothing is written about a gate that goes on. */
const atTheEnd = (reporter: Reporter): Reporter => ({
  ...reporter,
  end: (event) => (event.report.next === undefined ? reporter.end?.(event) : undefined),
});

/**
 * Plans and runs gates, prints the result and writes the reports. With `--dry-run`, it only prints the requests that would create
 * their runs. Returns the exit code.
 */
export async function runGates(
  command: Context,
  chosen: readonly ChosenGate[],
  resumed?: ResumedGate,
): Promise<number> {
  // An older receipt must not stay, whatever goes wrong from here on.
  const openReceipts = replaceReceipts(command, chosen);
  const { context, gates: planned } = await planGates(command, chosen);
  const { flags } = context;
  const starting = planned.flatMap((gate) => (gate.start === undefined ? [] : [gate]));
  if (flags.dryRun === true) return printRequests(context, starting);
  const isKept = flags.slice !== undefined || flags.detach === true;
  const slice = isKept ? await openSlice(context, starting, resumed) : null;
  try {
    return await runPlanned(context, planned, slice, openReceipts);
  } catch (error) {
    await slice?.failed();
    throw error;
  } finally {
    await slice?.close();
  }
}

async function runPlanned(
  context: Context,
  planned: readonly PlannedGate<Settings>[],
  slice: Awaited<ReturnType<typeof openSlice>> | null,
  openReceipts: ReturnType<typeof replaceReceipts>,
): Promise<number> {
  const { io, flags, output, settings } = context;
  const gates = slice?.gates ?? planned;
  // An earlier command has begun them, so runs may be in progress.
  const hasBegun = slice?.store.plan != null;
  const receipts = (await openReceipts?.(context, gates, hasBegun)) ?? {};
  await checkFiles(context, 'report', [flags.junit ?? [], flags.report ?? []].flat(), hasBegun);
  const local = isLocal(settings.apiUrl?.value ?? '');
  const printer: Reporter = {
    end: (event) => (event.error === null ? printGate(event, context) : undefined),
  };
  const reports: Reporter = { end: (event) => writeReports(context, event) };
  const closing: Reporter = {
    end: (event) => (event.error === null ? printClosing(event, gates, context) : undefined),
  };
  const reporters = [
    ...(await progressReporters(context, gates)),
    ...(slice === null ? [] : [slice.record]),
    printer,
    ...[receipts, reports, closing].map(atTheEnd),
    ...(slice === null ? [] : [slice.reported]),
  ];
  const options: OpenGateOptions = {
    ...openOptions(context),
    gates,
    ...slice,
    local,
    env: io.env,
    failFast: flags.failFast === true,
    async connect() {
      const notes = intervalNotes(gates, local);
      const caller = await context.connect();
      for (const note of notes) await output.warn(note);
      return caller;
    },
    async deployed(commit) {
      const page = await deployedOptions(context, commit);
      return page && { ...page, ...slice?.waitForBuild(page.timeoutMs) };
    },
    connection: () => context.connection(),
    cancelOnInterrupt:
      flags.cancelOnInterrupt ?? slice?.stopCancels ?? gates.some(({ start }) => start !== undefined),
    cancelOnTimeout: flags.cancelOnTimeout === true,
  };
  return (await openGate(options, reporters)).exitCode;
}

export function openOptions(context: Context): OpenOptions {
  const { io, settings, output } = context;
  return {
    clock: io.clock,
    random: io.random,
    onStop: gateStops(io),
    redact: output.redact,
    nameOf: context.nameOf,
    connect: () => context.connect(),
    hub: () => hubOptionsOf(io, context.flags, settings),
  };
}
