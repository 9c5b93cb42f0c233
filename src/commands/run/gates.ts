import { ConfigError, RungateError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { intervalNote, shortestWaitMs } from '../../gate/limits.ts';
import { inOrder } from '../../gate/plan/graph.ts';
import { flatReport, type GatesReport, unstartedGates } from '../../gate/plan/result.ts';
import { type GatesOptions, runGates } from '../../gate/plan/run-gates.ts';
import { redactReport } from '../../gate/report.ts';
import { runService } from '../../gate/service.ts';
import type { SettingValues } from '../../settings/names.ts';
import { isLocal } from '../../transport/address.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { type GatePlan, type GatesFlags, planGates, selectGates } from './gates-plan.ts';
import { gatesProgress } from './gates-progress.ts';
import { openCommandHub } from './hub.ts';
import { printGate } from './result.ts';
import { triggerSettings } from './trigger.ts';
import { hasReports } from './wait.ts';
import { asksForBuild, fleetOf } from './wait-flags.ts';

/** Returns the settings that the options of `run gates` set. */
export const gatesSettings = (flags: GatesFlags): Partial<SettingValues> => triggerSettings(flags);

/** `rungate run gates [name…]` */
export async function gatesCommand(
  context: Context,
  names: readonly string[],
  flags: GatesFlags,
): Promise<number> {
  if (flags.receipt !== undefined) {
    throw new UsageError('--receipt has no effect with several gates: a receipt is for one gate', {
      hint: 'run the gate that needs a receipt by itself: rungate run trigger --wait --receipt <file>',
    });
  }
  const chosen = selectGates(context, names);
  const plan = inOrder(await planGates(context, chosen, flags, await ciContext(context.io)));
  if (flags.dryRun === true) return printPlan(context, plan);

  const facts = { startedAt: context.io.clock.now() };
  const redacted = <Report extends { schemaVersion: 1 }>(whole: Report) =>
    redactReport(whole, context.output.redact);
  const flat = (whole: GatesReport) => redacted(flatReport(whole, plan));
  const write = async (whole: GatesReport) => {
    if (!hasReports(context, flags)) return whole.exitCode;
    const { writeReports } = await import('./reports.ts');
    return writeReports(context, flat(whole), flags, facts, null, whole);
  };
  let report: GatesReport;
  try {
    report = redacted(await waitForGates(context, plan, flags));
  } catch (error) {
    if (error instanceof RungateError) await write(redacted(unstartedGates(plan, error)));
    throw error;
  }
  await printGate(flat(report), context, report);
  return write(report);
}

async function printPlan({ output }: Context, plan: readonly GatePlan[]): Promise<number> {
  const gates = plan.map(({ name, needs, advisory, start: { body, keys } }) => {
    // A random key is made again when the gate runs.
    const [{ key, how, origin } = { key: '', how: '', origin: 'random' }] = keys;
    return { name, needs, advisory, body, idempotencyKey: origin === 'random' ? null : key, keyOrigin: how };
  });
  const rows = gates.map(({ name, needs, advisory, body, idempotencyKey, keyOrigin }) => [
    advisory ? `${name} (advisory)` : name,
    needs.join(', '),
    JSON.stringify(body),
    idempotencyKey ?? keyOrigin,
  ]);
  await output.data(
    { schemaVersion: 1, gates },
    { head: ['gate', 'needs', 'body', 'idempotency key'], rows },
  );
  return exitCodes.ok;
}

/** Returns the warnings about short intervals, each once. @throws UsageError or ConfigError below 1 s */
function intervalNotes(plan: readonly GatePlan[], local: boolean): Set<string> {
  const notes = plan.flatMap(({ settings: { interval }, intervalMs, name }) =>
    interval?.origin === 'flag'
      ? (intervalNote('--interval', intervalMs, local) ?? [])
      : (intervalNote(`the setting interval of gate ${name}`, intervalMs, local, ConfigError) ?? []),
  );
  return new Set(notes);
}

async function waitForGates(
  context: Context,
  plan: readonly GatePlan[],
  flags: GatesFlags,
): Promise<GatesReport> {
  const { io, output, settings } = context;
  const fleet = fleetOf(settings, flags, io.random);
  const local = isLocal(settings.apiUrl?.value ?? '');
  const notes = intervalNotes(plan, local);
  const caller = await context.connect();
  for (const note of notes) await output.alert(`${output.paint('warn', 'warning:')} ${note}`);
  const progress = await gatesProgress(io, output, plan);
  const options: GatesOptions = {
    gates: plan,
    failFast: flags.failFast === true,
    shortestMs: shortestWaitMs(local),
    fleet,
    cancelOnInterrupt: flags.cancelOnInterrupt ?? true,
    cancelOnTimeout: flags.cancelOnTimeout === true,
    cancelReason: async (why) => (await import('../../ci/provider.ts')).cancelReason(why, io.env),
  };
  const deployed = asksForBuild(settings, flags)
    ? await (await import('./deployed.ts')).openCommandDeployed(context, flags, undefined, progress.emit)
    : undefined;
  try {
    return await runGates(options, {
      service: runService(caller, io.clock.now),
      clock: io.clock,
      random: io.random,
      onStop: io.onStop,
      emit: progress.emit,
      onWatch: progress.onWatch,
      openHub: (emit) => openCommandHub(context, emit),
      deployed: deployed?.check,
    });
  } finally {
    await deployed?.close();
    progress.stop();
  }
}
