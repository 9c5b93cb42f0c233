import type { CiContext } from '../../ci/context.ts';
import { runFacts } from '../../ci/context.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { Start } from '../../gate/start.ts';
import { buildIds, type Flags } from '../../options/table.ts';
import type { Settings } from '../../settings/names.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { commandKeys } from './idempotency-key.ts';
import { runGates } from './open-gate.ts';
import { replaceReceipt } from './receipt.ts';
import { startOnly } from './start.ts';
import { gateOf } from './wait.ts';
import { refuseWaitFlags, warnWithoutWait } from './without-wait.ts';

export interface TriggerFlags extends Flags {
  wait?: boolean;
}

function selector(
  settings: Settings,
  hasGates: boolean,
): { processSlug: string } | { tags: [string, ...string[]] } {
  const [first, ...rest] = settings.tags?.value ?? [];
  if (settings.process !== undefined) return { processSlug: settings.process.value };
  if (first !== undefined) return { tags: [first, ...rest] };
  throw new UsageError('no process or tag to run', {
    hint: hasGates
      ? 'to run the gates of the project file: rungate run gates; for one run, give --process <slug> or --tag <tag>'
      : 'give --process <slug> or --tag <tag>; or write "process" or "tags" into .rungate.json, as rungate init does; or save a default: rungate config set process <slug>',
  });
}

/** From settings and the CI (interface, section 2.5). `hasGates`: the project file has gates, for a hint. */
export function triggerBody(settings: Settings, ci: CiContext, hasGates = false): TriggerBody {
  if (settings.project === undefined) {
    throw new UsageError('no project to run', {
      hint: 'give --project <slug>, set RUNGATE_PROJECT, or write "project" into .rungate.json, as rungate init does',
    });
  }
  const facts = runFacts(ci);
  const build = buildIds.map((id) => [id, settings[id]?.value ?? facts[id]]);
  const optional = { environmentKey: settings.environment?.value, ...Object.fromEntries(build) };
  const present = Object.fromEntries(
    Object.entries(optional).filter(([, value]) => value !== undefined && value !== null),
  );
  return { projectSlug: settings.project.value, ...selector(settings, hasGates), ...present };
}

export async function triggerCommand(context: Context, flags: TriggerFlags): Promise<number> {
  if (flags.wait !== true) refuseWaitFlags(flags);
  const openReceipt = replaceReceipt(context, flags.receipt);
  const ci = await ciContext(context.io);
  const body = triggerBody(context.settings, ci, context.sources.gates.length > 0);
  const receipt = await openReceipt?.(body);
  const retries = flags.wait === true ? context.settings.retries?.value : undefined;
  const { keys, journal } = await commandKeys(context, { ...flags, retries }, body, ci);
  const idPointer = context.settings['run.idPointer']?.value;
  const start: Start = { body, keys, idPointer };
  if (flags.wait === true) return runGates(context, [gateOf(context, { start, journal })], flags, receipt);
  await warnWithoutWait(context, flags, ci.provider);
  return startOnly(context, start, journal);
}
