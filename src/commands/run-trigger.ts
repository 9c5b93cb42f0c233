import { randomUUID } from 'node:crypto';
import type { TriggerBody } from '../contract/run.ts';
import { StoppedError, type StopSignal, UsageError } from '../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../exit.ts';
import { type CreatedRun, createRun, type Start } from '../gate/create.ts';
import { runService } from '../gate/service.ts';
import { excerpt } from '../sanitize.ts';
import type { Settings, SettingValues } from '../settings.ts';
import type { Context } from './context.ts';
import { gateProgress } from './gate-progress.ts';
import { filled } from './globals.ts';
import { givenWaitFlags, type WaitFlags, waitSettings } from './run-flags.ts';
import { runWait } from './run-wait.ts';

export interface TriggerFlags extends WaitFlags {
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
  idempotencyKey?: string;
  explainKey?: boolean;
}

/** The settings that the options of `run trigger` give. */
export function triggerSettings(flags: TriggerFlags): Partial<SettingValues> {
  for (const tag of flags.tag ?? []) filled('--tag', tag);
  const { project, process, tag, environment } = flags;
  return {
    ...waitSettings(flags),
    ...(project === undefined ? {} : { project: filled('--project', project) ?? '' }),
    ...(process === undefined ? {} : { process: filled('--process', process) ?? '' }),
    ...(tag === undefined ? {} : { tags: tag }),
    ...(environment === undefined ? {} : { environment: filled('--environment', environment) ?? '' }),
  };
}

function selector(settings: Settings): { processSlug: string } | { tags: [string, ...string[]] } {
  const [first, ...rest] = settings.tags?.value ?? [];
  if (settings.process !== undefined) return { processSlug: settings.process.value };
  if (first !== undefined) return { tags: [first, ...rest] };
  throw new UsageError('nothing says what to run: neither a process nor a tag', {
    hint: 'give --process <slug>, or --tag <tag> once or more',
  });
}

/** The create request (interface, section 2.5) that flags and settings make. */
export function triggerBody(flags: TriggerFlags, settings: Settings): TriggerBody {
  if (settings.project === undefined) {
    throw new UsageError('nothing says which project to run', {
      hint: 'give --project <slug>, or set RUNGATE_PROJECT',
    });
  }
  const optional = {
    environmentKey: settings.environment?.value,
    repository: filled('--repository', flags.repository),
    ref: filled('--ref', flags.ref),
    commitSha: filled('--commit-sha', flags.commitSha),
    event: filled('--event', flags.event),
    externalUrl: filled('--external-url', flags.externalUrl),
  };
  const present = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return { projectSlug: settings.project.value, ...selector(settings), ...present };
}

/** The key of this command: the one given, or a random one that all its tries share. */
function idempotencyKey(flags: TriggerFlags): { key: string; how: string } {
  const given = filled('--idempotency-key', flags.idempotencyKey);
  if (given !== undefined && given !== 'auto') return { key: given, how: 'given with --idempotency-key' };
  return { key: randomUUID(), how: 'random: each command starts a run of its own' };
}

/** `rungate run trigger` */
export async function triggerCommand(context: Context, flags: TriggerFlags): Promise<number> {
  const waitOnly = flags.wait === true ? [] : givenWaitFlags(flags);
  if (waitOnly.length > 0) {
    throw new UsageError(`${waitOnly.join(', ')}: nothing is waited for, so nothing would be gated`, {
      hint: 'add --wait',
    });
  }
  const body = triggerBody(flags, context.settings);
  const { key, how } = idempotencyKey(flags);
  if (flags.explainKey === true) await context.output.alert(`idempotency key ${excerpt(key)} (${how})`);
  const idPointer = context.settings['run.idPointer']?.value;
  const start: Start = { body, idempotencyKey: key, idPointer };
  return flags.wait === true ? runWait(context, { start }, flags) : triggerOnly(context, start);
}

/** Creates a run and prints its id. Stopped on the way, it still finds out and prints which run it has created. */
async function triggerOnly(context: Context, start: Start): Promise<number> {
  const { io, output } = context;
  const service = runService(await context.connect(), io.clock.now);
  const progress = await gateProgress(io, output, Number.POSITIVE_INFINITY);
  const stop = new AbortController();
  let stoppedBy: StopSignal | null = null;
  const unsubscribe = io.onStop((signal) => {
    stoppedBy = signal;
    progress.onStopping?.(signal);
    stop.abort(new StoppedError(signal));
  });
  try {
    const timeoutMs = context.settings.timeout?.value ?? 3_600_000;
    const tools = { service, clock: io.clock, stop: stop.signal, onRetry: progress.onCreateRetry };
    const creation = await createRun(start, timeoutMs, tools);
    const signal = stoppedBy as StopSignal | null;
    if (creation.kind === 'created') await printCreated(context, creation, start.idempotencyKey);
    else if (creation.kind === 'unknown') {
      await output.alert(
        `a run may have been created, with the idempotency key ${excerpt(start.idempotencyKey)}`,
      );
    }
    return signal === null ? exitCodes.ok : exitCodeOfSignal(signal);
  } finally {
    unsubscribe();
    progress.stop();
  }
}

async function printCreated(context: Context, run: CreatedRun, key: string): Promise<void> {
  const { output } = context;
  const { runId, appUrl, response } = run;
  if (output.format === 'json' || output.format === 'ndjson') {
    const report = { schemaVersion: 1, runId, appUrl, idempotencyKey: key, response: response ?? null };
    await output.data(report, { head: [], rows: [] });
  } else {
    await output.result(`${excerpt(runId, 1000)}\n`);
  }
  if (appUrl !== null) await output.note(`created run ${excerpt(runId, 80)}: ${excerpt(appUrl, 500)}`);
}
