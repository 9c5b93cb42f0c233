import type { CiContext } from '../../ci/context.ts';
import { runFacts } from '../../ci/context.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { Start } from '../../gate/start.ts';
import type { Settings, SettingValues } from '../../settings/names.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { commandKeys, type KeyFlags } from './idempotency-key.ts';
import { startOnly } from './start.ts';
import { replaceReceipt, runWait } from './wait.ts';
import { tagsOf, type WaitFlags, waitSettings } from './wait-flags.ts';
import { refuseWaitFlags, warnWithoutWait } from './without-wait.ts';

export interface TriggerFlags extends WaitFlags, KeyFlags {
  project?: string;
  process?: string;
  tag?: string[];
  environment?: string;
  repository?: string;
  ref?: string;
  commitSha?: string;
  event?: string;
  externalUrl?: string;
  wait?: boolean;
}

/** Returns the settings that the options of `run trigger` set. */
export function triggerSettings(flags: TriggerFlags): Partial<SettingValues> {
  const { project, process, tag, environment } = flags;
  return {
    ...waitSettings(flags),
    ...(project === undefined ? {} : { project: filled('--project', project) ?? '' }),
    ...(process === undefined ? {} : { process: filled('--process', process) ?? '' }),
    ...(tag === undefined ? {} : { tags: tag.flatMap(tagsOf) }),
    ...(environment === undefined ? {} : { environment: filled('--environment', environment) ?? '' }),
  };
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

/**
 * Returns the create request (interface, section 2.5) from options, settings and the CI.
 * @param hasGates whether the project file has gates, for a hint
 */
export function triggerBody(
  flags: TriggerFlags,
  settings: Settings,
  ci: CiContext,
  hasGates = false,
): TriggerBody {
  if (settings.project === undefined) {
    throw new UsageError('no project to run', {
      hint: 'give --project <slug>, set RUNGATE_PROJECT, or write "project" into .rungate.json, as rungate init does',
    });
  }
  const facts = runFacts(ci);
  const optional = {
    environmentKey: settings.environment?.value,
    repository: filled('--repository', flags.repository) ?? facts.repository,
    ref: filled('--ref', flags.ref) ?? facts.ref,
    commitSha: filled('--commit-sha', flags.commitSha) ?? facts.commitSha,
    event: filled('--event', flags.event) ?? facts.event,
    externalUrl: filled('--external-url', flags.externalUrl) ?? facts.externalUrl,
  };
  const present = Object.fromEntries(
    Object.entries(optional).filter(([, value]) => value !== undefined && value !== null),
  );
  return { projectSlug: settings.project.value, ...selector(settings, hasGates), ...present };
}

/** `rungate run trigger` */
export async function triggerCommand(context: Context, flags: TriggerFlags): Promise<number> {
  if (flags.wait !== true) refuseWaitFlags(flags);
  const openReceipt = await replaceReceipt(context, flags);
  const ci = await ciContext(context.io);
  const body = triggerBody(flags, context.settings, ci, context.sources.gates.length > 0);
  const writeReceipt = await openReceipt?.(body);
  const retries = flags.wait === true ? context.settings.retries?.value : undefined;
  const { keys, journal } = await commandKeys(context, { ...flags, retries }, body, ci);
  const idPointer = context.settings['run.idPointer']?.value;
  const start: Start = { body, keys, idPointer };
  if (flags.wait === true) return runWait(context, { start, journal }, flags, writeReceipt);
  await warnWithoutWait(context, flags, ci.provider);
  return startOnly(context, start, journal);
}
