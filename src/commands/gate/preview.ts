import type { CiContext } from '../../ci/context.ts';
import { prepareRequest } from '../../client/request.ts';
import { run, type TriggerBody } from '../../contract/run.ts';
import { ConfigError, RungateError, UsageError } from '../../errors.ts';
import { usualLimits } from '../../gate/limits.ts';
import type { PlanNode } from '../../gate/plan/graph.ts';
import { groupOf } from '../../options/table.ts';
import { checkToken, pageUrl, planPreviews } from '../../preview/plan.ts';
import type { Preview } from '../../preview/prepare.ts';
import type { Settings } from '../../settings/names.ts';
import { bareUrl, parseApiUrl } from '../../transport/address.ts';
import { emptySecretHints } from '../config/credential-guard.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import type { GateFlags } from '../run/command-gate.ts';
import { buildsOf } from '../run/start.ts';
import { sayAlso, sayFrom } from '../source-names.ts';

interface GivenGate extends PlanNode {
  settings: Settings;
  body: TriggerBody;
}

/** The gates of a command with their previews, and the command as it is without paths at a deployment. */
export interface WithPreviews {
  context: Context;
  flags: GateFlags;
  gates: readonly { body: TriggerBody; preview: Preview | undefined }[];
}

/** The longest time that a gate may take after its deployment responds. */
function waitMsOf({ timeout, ...settings }: Settings): number {
  const deployedMs = settings['deployed.url'] === undefined ? 0 : (settings['deployed.timeout']?.value ?? 0);
  return deployedMs + (timeout?.value ?? usualLimits.timeoutMs);
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

/**
 * Returns the gates with their preview deployments. Everything that could fail later is checked now, so that no environment is
 * created in vain.
 * @throws ConfigError or CredentialError before anything is sent
 */
export async function planCommandPreviews(
  context: Context,
  given: GateFlags,
  ci: CiContext,
  gates: readonly GivenGate[],
): Promise<WithPreviews> {
  if (gates.every(({ settings }) => settings['preview.baseUrl'] === undefined)) {
    const [useless] = givenOptions(given, ({ group }) => group === 'Preview deployment:');
    if (useless !== undefined)
      throw new UsageError(`${useless} has no effect without a preview deployment`, {
        hint: 'add --base-url <url>',
      });
    return { context, flags: given, gates: gates.map(({ body }) => ({ body, preview: undefined })) };
  }
  const { io, settings } = context;
  const { idempotencyKey, idempotencySalt: salt = null, insecureHttp, dryRun } = given;
  const say = sayAlso(emptySecretHints(io), sayFrom(settings));
  try {
    const asked = gates.map((gate) => {
      const { baseUrl, readyUrl, readyTimeout, copyVariables } = groupOf(gate.settings, 'preview');
      const { name, needs, advisory, body } = gate;
      const planned = { name, needs, advisory, body, waitMs: waitMsOf(gate.settings) };
      if (baseUrl === undefined) return { ...planned, settings: undefined };
      const preview = {
        baseUrl: baseUrl.value,
        readyUrl: readyUrl?.value,
        readyTimeoutMs: readyTimeout?.value,
        copyVariables: copyVariables?.value,
      };
      return { ...planned, settings: preview };
    });
    // Loaded here, as for the keys of runs.
    const { placeOf } = await import('../../ci/idempotency.ts');
    const place = placeOf({ given: idempotencyKey, salt, builds: buildsOf(settings), ci });
    const planned = planPreviews(asked, { placeOf: place, insecureHttp });
    if (dryRun !== true) {
      checkToken(settings.token?.value, io.clock.now(), asked, given.slice);
      const target = {
        base: parseApiUrl(settings.apiUrl?.value ?? '', insecureHttp),
        apiKey: settings.apiKey?.value,
        token: settings.token?.value,
      };
      for (const { body } of planned)
        prepareRequest('run.trigger', run['run.trigger'], { params: {}, body }, target);
    }
    const all = withDeployedUrl({ context, flags: given, gates: planned });
    if (dryRun === true) await showPreviews(context, all);
    return all;
  } catch (error) {
    throw error instanceof RungateError ? error.word(say) : error;
  }
}

/** Says with `--dry-run` what happens around the runs. */
async function showPreviews({ output }: Context, { gates }: WithPreviews): Promise<void> {
  const shown = new Set<unknown>();
  for (const { body, preview } of gates) {
    if (preview === undefined || shown.has(body.environmentKey)) continue;
    shown.add(body.environmentKey);
    const url = output.excerpt(bareUrl(preview.baseUrl), 500);
    await output.note(
      `the environment ${body.environmentKey} would be created for ${url}, and deleted after the run`,
    );
  }
}
