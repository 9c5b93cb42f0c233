import { type CiContext, runFacts } from '../../ci/context.ts';
import { prepareRequest } from '../../client/request.ts';
import { run, type TriggerBody } from '../../contract/run.ts';
import { ConfigError, type RungateError, UsageError } from '../../errors.ts';
import { type Rules, usualLimits } from '../../gate/limits.ts';
import { inOrder, type PlanNode } from '../../gate/plan/graph.ts';
import { type PlannedGate, type StartingGate, unnamed } from '../../gate/plan/plan.ts';
import type { Policy } from '../../gate/policy.ts';
import { planStarts } from '../../library/plan-starts.ts';
import { buildIds, groupOf } from '../../options/table.ts';
import { inCi } from '../../output/motion.ts';
import { type AskedGate, checkToken, pageUrl } from '../../preview/plan.ts';
import { policySettings } from '../../settings/merge.ts';
import type { Settings } from '../../settings/names.ts';
import { bareUrl, parseApiUrl, receiver } from '../../transport/address.ts';
import { buildContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { explainKeys } from './dry-run.ts';
import { withSubjectFiles } from './subjects.ts';

/** A gate that a command is given, with its settings. It starts a run, unless it has existing ones to wait for. */
export interface ChosenGate extends PlanNode {
  settings: Settings;
  /** Its place in the project file, for errors. */
  place?: string;
  /** The body of the first command, if it goes on. */
  body?: TriggerBody | undefined;
  runIds?: readonly string[];
  names?: readonly string[] | undefined;
}

/** Returns the only gate of a command, which has no name. */
export const onlyGate = (settings: Settings): ChosenGate => ({
  name: unnamed,
  needs: [],
  advisory: false,
  settings,
});

/** Returns the rules of a gate. A timeout that is set lifts the default number of status reads, which would end the wait long before. */
export function rulesOf(settings: Settings): Rules {
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

/**
 * Plans the gates of a command, each after those that it needs. The context has the subjects and the URL that were given as files
 * and as a path.
 * @throws RungateError before anything is sent
 */
export async function planGates(
  command: Context,
  chosen: readonly ChosenGate[],
): Promise<{ context: Context; gates: readonly PlannedGate<Settings>[] }> {
  const context = await withSubjectFiles(command);
  const gates = chosen.map((gate) => ({ ...gate, rules: rulesOf(gate.settings) }));
  const ofRuns = gates.flatMap(({ runIds, ...gate }) => (runIds === undefined ? [] : [{ ...gate, runIds }]));
  if (ofRuns.length > 0) return { context, gates: ofRuns };
  checkKeyFlags(context, chosen);
  const ci = await buildContext(context);
  await warnOfReRuns(context, ci);
  const asked = gates.map(({ runIds: _runIds, names: _names, ...gate }) => ({
    ...gate,
    body: gate.body ?? triggerBody(gate, ci),
    preview: previewSettings(gate.settings),
  }));
  const planned = await planNewRuns(context, ci, asked);
  if (context.flags.explainKey === true) await explainKeys(context.output, planned.gates, ci);
  return { ...planned, gates: inOrder(planned.gates) };
}

/** @throws UsageError for options about keys that cannot work together */
function checkKeyFlags({ flags }: Context, gates: readonly ChosenGate[]): void {
  const { idempotencyKey: key, idempotencySalt } = flags;
  if (key === undefined || key === 'auto') return;
  if (gates.some(({ name }) => name !== unnamed))
    throw new UsageError('--idempotency-key has no effect with several gates: each run needs its own key', {
      hint: 'leave it out; --idempotency-salt distinguishes jobs that run the same gates',
    });
  if (idempotencySalt !== undefined)
    throw new UsageError('--idempotency-key and --idempotency-salt cannot be combined', {
      hint: 'leave one of them out: the salt only changes the automatic key',
    });
}

/** Warns in a CI system that rungate does not know, where it cannot find the run of an earlier job. */
async function warnOfReRuns({ io, flags, output }: Context, { provider }: CiContext): Promise<void> {
  const { idempotencyKey = 'auto', slice, resume } = flags;
  // A slice goes on with the gate that it has stored.
  if (slice !== undefined || resume !== undefined) return;
  if (provider !== null || idempotencyKey !== 'auto' || !inCi(io.env)) return;
  await output.warn(
    'rungate does not know this CI system: a re-run of the job starts another run',
    'to reuse the run of the first job, give the same --idempotency-key <key> in each re-run',
  );
}

function nothingToRun({ name, place }: ChosenGate, missing: 'project' | 'process or tags'): RungateError {
  if (name !== unnamed)
    return new ConfigError(`${place}: gate ${name} has no ${missing}`, {
      hint: `write ${missing === 'project' ? '"project"' : '"process" or "tags"'} into the gate, or at the top level of the file for all gates`,
    });
  if (missing === 'project')
    return new UsageError('no project is given', {
      hint: 'give --project <slug>, set RUNGATE_PROJECT, or write "project" into .rungate.json, as rungate init does',
    });
  return new UsageError('no process or tag is given', {
    hint: 'give --process <slug> or --tag <tag>; or write "process" or "tags" into .rungate.json, as rungate init does; to run the gates of the file: rungate gate',
  });
}

/** Returns the body of the request that creates a run, from the settings and the facts of the CI. @throws UsageError or ConfigError */
function triggerBody(gate: ChosenGate, ci: CiContext): TriggerBody {
  const { settings } = gate;
  const { project, process, tags, environment } = settings;
  const [tag, ...others] = tags?.value ?? [];
  if (project === undefined) throw nothingToRun(gate, 'project');
  if (process === undefined && tag === undefined) throw nothingToRun(gate, 'process or tags');
  const facts = runFacts(ci);
  const build = buildIds.map((id) => [id, settings[id]?.value ?? facts[id]] as const);
  const present = [['environmentKey', environment?.value] as const, ...build].filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const selector = process === undefined ? { tags: [tag, ...others] } : { processSlug: process.value };
  return { projectSlug: project.value, ...selector, ...Object.fromEntries(present) } as TriggerBody;
}

function previewSettings(settings: Settings): AskedGate['preview'] {
  const { baseUrl, readyUrl, readyTimeout, copyVariables } = groupOf(settings, 'preview');
  return (
    baseUrl && {
      baseUrl: baseUrl.value,
      readyUrl: readyUrl?.value,
      readyTimeoutMs: readyTimeout?.value,
      copyVariables: copyVariables?.value,
    }
  );
}

/** Returns the gates with the runs that they start, and with their preview deployments. */
async function planNewRuns(context: Context, ci: CiContext, asked: readonly AskedGate<Settings>[]) {
  const { io, flags, output, settings, nameOf } = context;
  const { idempotencyKey: given, idempotencySalt: salt = null, insecureHttp, dryRun } = flags;
  const { is, url, timeout } = groupOf(settings, 'deployed');
  const hasPreview = asked.some(({ preview }) => preview !== undefined);
  const [useless] = givenOptions(flags, ({ group }) => group === 'Preview deployment:');
  if (!hasPreview && useless !== undefined)
    throw new UsageError(`${useless} has no effect without a preview deployment`, {
      hint: 'add --base-url <url>',
    });
  const request = {
    given,
    how: 'given with --idempotency-key',
    salt,
    ci,
    journalPath: io.journal,
    insecureHttp,
    builds: [is?.value ?? [], settings['receipt.subjects']?.value ?? []].flat(),
    idPointer: settings['run.idPointer']?.value,
    nameOf,
  };
  const warn = (problem: string) => void output.alert(output.excerpt(problem, 400));
  const gates = planStarts(asked, request, output.redact, warn);
  if (!hasPreview) return { context, gates };
  // Everything that could fail later, so that no environment is created in vain.
  if (dryRun !== true) {
    const deployedMs = url === undefined ? 0 : (timeout?.value ?? 0);
    checkToken(settings.token?.value, nameOf, io.clock.now(), asked, deployedMs, flags.slice);
    checkRequests(context, gates);
  }
  const planned = { context: withDeployedUrl(context, gates), gates };
  if (dryRun === true) await showPreviews(context, gates);
  return planned;
}

function checkRequests({ flags, settings, nameOf }: Context, gates: readonly StartingGate[]): void {
  const { apiUrl, apiKey, token } = settings;
  const base = parseApiUrl(apiUrl?.value ?? '', receiver('service', nameOf), flags.insecureHttp);
  const sender = { apiKey: apiKey?.value, token: token?.value, nameOf };
  for (const { start } of gates)
    prepareRequest('run.trigger', run['run.trigger'], { params: {}, body: start.body }, base, sender);
}

/** Resolves `--deployed-url /version.json` at the deployment. @throws ConfigError if the gates test several */
function withDeployedUrl(context: Context, gates: readonly StartingGate[]): Context {
  const { flags, settings, nameOf } = context;
  const setting = settings['deployed.url'];
  if (setting?.value.startsWith('/') !== true) return context;
  const [baseUrl, ...others] = new Set(gates.map(({ start }) => start.preview?.baseUrl.href));
  if (baseUrl === undefined || others.length > 0)
    throw new ConfigError(
      'the version page is given as a path, but the gates do not test the same deployment',
      {
        hint: `set ${nameOf('deployed.url')} to its whole URL`,
      },
    );
  const url = pageUrl(setting.value, new URL(baseUrl));
  return {
    ...context,
    settings: { ...settings, 'deployed.url': { ...setting, value: url } },
    flags: flags.deployedUrl === undefined ? flags : { ...flags, deployedUrl: url },
  };
}

/** Says with `--dry-run` what happens around the runs. */
async function showPreviews({ output }: Context, gates: readonly StartingGate[]): Promise<void> {
  const previews = new Map(gates.map(({ start }) => [start.body.environmentKey, start.preview]));
  for (const [key, preview] of previews) {
    if (preview === undefined) continue;
    const url = output.excerpt(bareUrl(preview.baseUrl), 500);
    await output.note(`the environment ${key} would be created for ${url}, and deleted after the run`);
  }
}
