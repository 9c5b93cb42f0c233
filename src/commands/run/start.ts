import { type CiContext, runFacts } from '../../ci/context.ts';
import type { PlannedKeys } from '../../ci/idempotency.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { RunJournal } from '../../gate/events.ts';
import type { Start } from '../../gate/start.ts';
import { buildIds, type Flags } from '../../options/table.ts';
import { inCi } from '../../output/motion.ts';
import type { Settings } from '../../settings/names.ts';
import type { Context } from '../context.ts';

function selector(settings: Settings): { processSlug: string } | { tags: [string, ...string[]] } {
  const [first, ...rest] = settings.tags?.value ?? [];
  if (settings.process !== undefined) return { processSlug: settings.process.value };
  if (first !== undefined) return { tags: [first, ...rest] };
  throw new UsageError('no process or tag to run', {
    hint: 'give --process <slug> or --tag <tag>; or write "process" or "tags" into .rungate.json, as rungate init does; for the gates of the file: rungate gate',
  });
}

/** Returns the body of the request that creates a run, from the settings and the facts of the CI. @throws UsageError if it has nothing to run */
export function triggerBody(settings: Settings, ci: CiContext): TriggerBody {
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
  return { projectSlug: settings.project.value, ...selector(settings), ...present };
}

export type KeyFlags = Pick<Flags, 'idempotencyKey' | 'idempotencySalt' | 'explainKey'>;

/** A run to start, its journal, and how its key was made. */
export interface PlannedStart {
  readonly start: Start;
  readonly journal: RunJournal | undefined;
  /** The origin of its first key, as text for people. */
  readonly how: string;
  /** The facts that its keys are made from, in lines for people; empty for keys that are given or random. */
  readonly madeFrom: readonly string[];
}

/** Returns the expected version and the subjects. */
export const buildsOf = (settings: Settings): string[] =>
  [settings['deployed.is']?.value ?? [], settings['receipt.subjects']?.value ?? []].flat();

/** Warns in a CI system that rungate does not know, where it cannot find the run of an earlier job. */
export async function warnOfReRuns(
  { io, output }: Context,
  { idempotencyKey = 'auto', slice, resume }: KeyFlags & { slice?: unknown; resume?: unknown },
  { provider }: CiContext,
): Promise<void> {
  // A slice goes on with the gate that it has stored.
  if (slice !== undefined || resume !== undefined) return;
  if (provider !== null || idempotencyKey !== 'auto' || !inCi(io.env)) return;
  const warning = output.paint('warn', 'warning:');
  await output.alert(
    `${warning} rungate does not know this CI system: a re-run of the job starts another run`,
  );
  await output.alert(
    '  → to join the run of the first job, give --idempotency-key <key>, the same in each re-run',
  );
}

/** Makes the keys of a run, and explains them if `--explain-key` is given. @throws UsageError */
export async function planStart(
  { io, output, settings }: Context,
  flags: KeyFlags & { retries?: number | undefined },
  body: TriggerBody,
  ci: CiContext,
): Promise<PlannedStart> {
  const given = flags.idempotencyKey;
  const salt = flags.idempotencySalt ?? null;
  if (given !== undefined && given !== 'auto' && salt !== null) {
    throw new UsageError('--idempotency-key and --idempotency-salt cannot be combined', {
      hint: 'leave one of them out: the salt only changes the automatic key',
    });
  }
  // Loaded here, because `run wait` has no key and would pay for `node:crypto`.
  const { planKeys } = await import('../../ci/idempotency.ts');
  const request = {
    given,
    how: 'given with --idempotency-key',
    salt,
    retries: flags.retries,
    bodyBytes: JSON.stringify(body),
    builds: buildsOf(settings),
    ci,
    journalPath: io.journal,
  };
  const warn = (problem: string) => void output.alert(output.excerpt(problem, 400));
  const plan = planKeys(request, { warn, redact: output.redact });
  const { chain, how, journal } = plan;
  const madeFrom = ingredientLines(plan);
  if (flags.explainKey === true)
    for (const line of await explanation(plan, flags.retries ?? 0, madeFrom, ci))
      await output.alert(output.excerpt(line, 300));
  return { start: { body, chain, idPointer: settings['run.idPointer']?.value }, journal, how, madeFrom };
}

function reRunOf({ attempt }: CiContext): string {
  if (attempt === null) return 're-runs are not counted';
  return attempt === 1 ? 'not a re-run' : `re-run ${attempt - 1} of the job`;
}

function ingredientLines({ made }: PlannedKeys): string[] {
  if (made === undefined) return [];
  return [
    'made from:',
    ...Object.entries(made.ingredients).map(([name, value]) => `  ${name}: ${value ?? '(unknown)'}`),
    `journal: ${made.path}`,
  ];
}

async function explanation(
  { chain, how }: PlannedKeys,
  retries: number,
  madeFrom: readonly string[],
  ci: CiContext,
): Promise<string[]> {
  const { key } = chain.link;
  if (madeFrom.length === 0) return [`idempotency key ${key} (${how})`];
  const { mostLinks } = await import('../../gate/chain.ts');
  return [
    `idempotency keys of ${ci.provider}, ${reRunOf(ci)}:`,
    `  first ${key} (${how})`,
    `  then up to ${mostLinks(chain.attempt, retries) - 1} more, each a hash of the key before it and the id of the run that had ended under that key`,
    `  at last ${chain.spare} (random)`,
    ...madeFrom,
  ];
}
