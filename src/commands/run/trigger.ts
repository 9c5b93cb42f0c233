import { type CiContext, runFacts } from '../../ci/context.ts';
import type { PlannedKeys } from '../../ci/idempotency.ts';
import { openJournal } from '../../ci/journal.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { RunJournal } from '../../gate/events.ts';
import { usualLimits } from '../../gate/limits.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import { reportStarted, type Start, type StartedCandidate } from '../../gate/start.ts';
import { objectText } from '../../json/text.ts';
import { openStart } from '../../library/open-gate.ts';
import { buildIds, type Flags } from '../../options/table.ts';
import type { Settings } from '../../settings/names.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { openOptions, runGates } from './open-gate.ts';
import { progressLines } from './progress.ts';
import { replaceReceipt } from './receipt.ts';
import { gateOf } from './wait.ts';
import { waitRules } from './wait-flags.ts';
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

/** From settings and the CI. `hasGates`: the project file has gates, for a hint. */
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

/** Returns the keys of `run trigger`, and explains them if `--explain-key` is given. */
export async function commandKeys(
  context: Context,
  flags: Pick<Flags, 'idempotencyKey' | 'idempotencySalt' | 'explainKey'> & { retries: number | undefined },
  body: TriggerBody,
  ci: CiContext,
): Promise<PlannedKeys> {
  const given = flags.idempotencyKey;
  const salt = flags.idempotencySalt ?? null;
  if (given !== undefined && given !== 'auto' && salt !== null) {
    throw new UsageError('--idempotency-key and --idempotency-salt cannot be combined', {
      hint: 'leave one of them out: the salt only changes the automatic key',
    });
  }
  const { io, output } = context;
  // Loaded here, because `run wait` has no key and would pay for `node:crypto`.
  const { planKeys } = await import('../../ci/idempotency.ts');
  const plan = planKeys({
    given,
    how: 'given with --idempotency-key',
    salt,
    retries: flags.retries,
    bodyBytes: JSON.stringify(body),
    ci,
    journalPath: io.env.RUNGATE_JOURNAL,
    open(file) {
      const alert = (problem: string) => void output.alert(output.excerpt(problem, 400));
      return openJournal(file, new Date(io.clock.now()), alert, output.redact);
    },
  });
  if (flags.explainKey === true)
    for (const line of keyExplanation(plan, ci)) await output.alert(output.excerpt(line, 300));
  return plan;
}

function reRunOf({ attempt }: CiContext): string {
  if (attempt === null) return 're-runs are not counted';
  return attempt === 1 ? 'not a re-run' : `re-run ${attempt - 1} of the job`;
}

function keyExplanation({ keys, made }: PlannedKeys, ci: CiContext): string[] {
  if (made === undefined) return keys.map(({ key, how }) => `idempotency key ${key} (${how})`);
  return [
    `idempotency keys of ${ci.provider}, ${reRunOf(ci)}:`,
    ...keys.slice(0, 5).map(({ key, how }) => `  ${key} (${how})`),
    'made from:',
    ...Object.entries(made.ingredients).map(([name, value]) => `  ${name}: ${value ?? '(unknown)'}`),
    `journal: ${made.path}`,
  ];
}

/** Without `--wait`: prints the id. If it is stopped on the way, it still finds and prints the run that it started. */
export async function startOnly(context: Context, start: Start, journal?: RunJournal): Promise<number> {
  const { io, output, settings } = context;
  const { policy } = waitRules(settings);
  const timeoutMs = settings.timeout?.value ?? usualLimits.timeoutMs;
  const lines = progressLines(io, output, [{ name: unnamed, needs: [], advisory: false, start }]);
  const options = { ...openOptions(context), start, journal, policy, timeoutMs };
  const { kind, step, stoppedBy } = await openStart(options, [lines], (started) =>
    printStarted(context, start.body, started),
  );
  if (kind === 'unknown')
    await output.alert(`a run may have been created with the idempotency key ${output.excerpt(step.key)}`);
  return stoppedBy === null ? exitCodes.ok : exitCodeOfSignal(stoppedBy);
}

async function printStarted(
  { output }: Context,
  body: TriggerBody,
  started: StartedCandidate,
): Promise<void> {
  const { runId, responseText } = started.run;
  if (output.format === 'json' || output.format === 'ndjson') {
    const { reattached: _, ...report } = reportStarted(body, started);
    const texts = Object.entries(report).map(([name, value]) => [name, JSON.stringify(value)] as const);
    // As text, so that numbers keep their digits.
    const members = new Map(texts).set('response', responseText.trim() || 'null');
    await output.response(objectText(members), { head: [], rows: [] });
  } else {
    await output.result(`${output.excerpt(runId, 1000)}\n`);
  }
}
