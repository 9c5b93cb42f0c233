import type { CiContext } from '../../ci/context.ts';
import { prepareRequest } from '../../client/request.ts';
import { run, type TriggerBody } from '../../contract/run.ts';
import { ConfigError, RungateError, UsageError } from '../../errors.ts';
import { usualLimits } from '../../gate/limits.ts';
import type { PlanNode } from '../../gate/plan/graph.ts';
import { groupOf } from '../../options/table.ts';
import {
  type AskedPreview,
  checkToken,
  type PlannedPreview,
  pageUrl,
  planPreviews,
} from '../../preview/plan.ts';
import type { Settings } from '../../settings/names.ts';
import { bareUrl, parseApiUrl } from '../../transport/address.ts';
import { emptySecretHints } from '../config/credential-guard.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { buildsOf } from '../run/start.ts';
import type { GateFlags } from '../run/wait-flags.ts';
import { sayAlso, sayFrom } from '../source-names.ts';

interface GivenGate extends PlanNode {
  settings: Settings;
  body: TriggerBody;
}

/** The gates of a command with their previews, and the command as it is without paths at a deployment. */
export interface WithPreviews {
  context: Context;
  flags: GateFlags;
  gates: readonly PlannedPreview[];
}

function askedPreview({ settings: all, name, needs, advisory, body }: GivenGate): AskedPreview {
  const deployedMs = all['deployed.url'] === undefined ? 0 : (all['deployed.timeout']?.value ?? 0);
  const { baseUrl, readyUrl, readyTimeout, copyVariables } = groupOf(all, 'preview');
  return {
    name,
    needs,
    advisory,
    body,
    waitMs: deployedMs + (all.timeout?.value ?? usualLimits.timeoutMs),
    settings: baseUrl && {
      baseUrl: baseUrl.value,
      readyUrl: readyUrl?.value,
      readyTimeoutMs: readyTimeout?.value,
      copyVariables: copyVariables?.value,
    },
  };
}

/** Resolves `--deployed-url /version.json` at the deployment. @throws ConfigError if the gates test several */
function withDeployedUrl({ context, flags, gates }: WithPreviews): WithPreviews {
  const { settings } = context;
  const setting = settings['deployed.url'];
  if (setting?.value.startsWith('/') !== true) return { context, flags, gates };
  const [baseUrl, ...others] = new Set(gates.map(({ preview }) => preview?.baseUrl.href));
  if (baseUrl === undefined || others.length > 0)
    throw new ConfigError('the version page is given by its path, but the gates do not test one deployment', {
      hint: (say) => `set ${say('deployed.url')} to its whole URL`,
    });
  const url = pageUrl(setting.value, new URL(baseUrl));
  return {
    context: { ...context, settings: { ...settings, 'deployed.url': { ...setting, value: url } } },
    flags: flags.deployedUrl === undefined ? flags : { ...flags, deployedUrl: url },
    gates,
  };
}

/** Checks everything that could fail later, so that no environment is created in vain. @throws ConfigError or CredentialError */
function checkBefore(
  { io, settings }: Context,
  { slice, insecureHttp }: GateFlags,
  asked: readonly AskedPreview[],
  planned: readonly PlannedPreview[],
): void {
  const token = settings.token?.value;
  checkToken(token, io.clock.now(), asked, slice);
  const base = parseApiUrl(settings.apiUrl?.value ?? '', insecureHttp);
  const sender = { apiKey: settings.apiKey?.value, token };
  for (const { body } of planned)
    prepareRequest('run.trigger', run['run.trigger'], { params: {}, body }, base, sender);
}

/** Says with `--dry-run` what happens around the runs. */
async function showPreviews({ output }: Context, gates: readonly PlannedPreview[]): Promise<void> {
  const previews = new Map(gates.map(({ body, preview }) => [body.environmentKey, preview]));
  for (const [key, preview] of previews) {
    if (preview === undefined) continue;
    const url = output.excerpt(bareUrl(preview.baseUrl), 500);
    await output.note(`the environment ${key} would be created for ${url}, and deleted after the run`);
  }
}

/** Returns the gates with their preview deployments. @throws ConfigError or CredentialError before anything is sent */
export async function planCommandPreviews(
  context: Context,
  flags: GateFlags,
  ci: CiContext,
  gates: readonly GivenGate[],
): Promise<WithPreviews> {
  if (gates.every(({ settings }) => settings['preview.baseUrl'] === undefined)) {
    const [useless] = givenOptions(flags, ({ group }) => group === 'Preview deployment:');
    if (useless !== undefined)
      throw new UsageError(`${useless} has no effect without a preview deployment`, {
        hint: 'add --base-url <url>',
      });
    return { context, flags, gates: gates.map(({ body }) => ({ body, preview: undefined })) };
  }
  const { io, settings } = context;
  const { idempotencyKey: given, idempotencySalt: salt = null, insecureHttp, dryRun } = flags;
  try {
    const asked = gates.map(askedPreview);
    // Loaded here, as for the keys of runs.
    const { placeOf } = await import('../../ci/idempotency.ts');
    const place = placeOf({ given, salt, builds: buildsOf(settings), ci });
    const planned = planPreviews(asked, place, insecureHttp);
    if (dryRun !== true) checkBefore(context, flags, asked, planned);
    const all = withDeployedUrl({ context, flags, gates: planned });
    if (dryRun === true) await showPreviews(context, planned);
    return all;
  } catch (error) {
    const say = sayAlso(emptySecretHints(io), sayFrom(settings));
    throw error instanceof RungateError ? error.word(say) : error;
  }
}
