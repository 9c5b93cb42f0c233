import { expiryOf, whenText } from '../client/credential-problems.ts';
import type { TriggerBody } from '../contract/run.ts';
import { formatDuration } from '../duration.ts';
import { ConfigError, CredentialError } from '../errors.ts';
import { longestPathMs, type PlanNode } from '../gate/plan/graph.ts';
import { parseUrl } from '../parse-url.ts';
import { parseApiUrl, type Receiver, toDeployment } from '../transport/address.ts';
import { previewKey } from './mark.ts';
import type { Preview } from './prepare.ts';

/** The settings of a preview. */
interface PreviewSettings {
  baseUrl: string | URL;
  readyUrl?: string | URL | undefined;
  readyTimeoutMs?: number | undefined;
  copyVariables?: boolean | undefined;
}

/** A gate with the preview that it asks for, and the body of its run. */
export interface AskedPreview extends PlanNode {
  settings: PreviewSettings | undefined;
  body: TriggerBody;
  /** The longest time that the gate takes after the deployment responds. */
  waitMs: number;
}

/** The body of a run with the key of its environment, and the preview. */
export interface PlannedPreview {
  body: TriggerBody;
  preview: Preview | undefined;
}

export const usualReadyMs = 300_000;

const toReadyPage: Receiver = { server: 'page', address: (say) => say('preview.readyUrl') };

/** Returns the URL of a page: itself, or a path at the deployment. */
export function pageUrl(page: string, baseUrl: URL): string {
  return page.startsWith('/') ? (parseUrl(page, baseUrl.href)?.href ?? page) : page;
}

/** Returns the preview of a gate, whose environment is the one to copy. @throws ConfigError for a URL that rungate does not use */
function previewOf(settings: PreviewSettings, body: TriggerBody, insecureHttp: boolean | undefined): Preview {
  const baseUrl = parseApiUrl(String(settings.baseUrl), insecureHttp, toDeployment);
  const { readyUrl, readyTimeoutMs = usualReadyMs, copyVariables = false } = settings;
  const page = readyUrl && pageUrl(String(readyUrl), baseUrl);
  const model = body.environmentKey ?? null;
  if (copyVariables && model === null)
    throw new ConfigError('there is no environment to copy the variables of', {
      hint: (say) => `name it as ${say('environment')}, or leave out ${say('preview.copyVariables')}`,
    });
  return {
    baseUrl,
    readyUrl: page === undefined ? baseUrl : parseApiUrl(page, insecureHttp, toReadyPage),
    readyTimeoutMs,
    copyVariables,
    model,
    version: body.commitSha ?? null,
  };
}

/**
 * Returns the previews of gates, and the bodies of their runs with the keys of their environments. Gates with the same deployment
 * share one.
 * @param placeOf returns a hash in hex that is the same in all re-runs of the job for the same text, and for no other job
 * @throws ConfigError before anything is sent
 */
export function planPreviews(
  gates: readonly AskedPreview[],
  placeOf: (text: string) => string,
  insecureHttp: boolean | undefined,
): PlannedPreview[] {
  const groups = new Map<string, TriggerBody[]>();
  const planned = gates.map(({ settings, body }) => {
    if (settings === undefined) return { body, preview: undefined, group: '' };
    const { environmentKey: _model, ...run } = body;
    const preview = previewOf(settings, body, insecureHttp);
    const { baseUrl, model, copyVariables, version } = preview;
    const group = JSON.stringify([baseUrl.href, model, copyVariables, version]);
    groups.set(group, [...(groups.get(group) ?? []), run]);
    return { body: run, preview, group };
  });
  // Without the facts of a job, each hash is random.
  const keys = new Map(
    [...groups].map(([group, bodies]) => [group, previewKey(placeOf(JSON.stringify([group, bodies])))]),
  );
  return planned.map(({ body, preview, group }) => ({
    preview,
    body: preview === undefined ? body : { ...body, environmentKey: keys.get(group) },
  }));
}

/**
 * Refuses a token that could not delete the environments at the end.
 * @param sliceMs the time after which another command goes on, with its own token
 * @throws CredentialError without a token, ConfigError if it expires too early
 */
export function checkToken(
  token: string | undefined,
  now: number,
  gates: readonly AskedPreview[],
  sliceMs = Number.POSITIVE_INFINITY,
): void {
  if (token === undefined)
    throw new CredentialError(
      'no bearer token is set: rungate creates an environment for the deployment and deletes it, which an API key cannot do',
      { hint: (say) => say('give.bearer') },
    );
  const expiry = expiryOf(token);
  const readyMs = ({ settings }: AskedPreview) => settings && (settings.readyTimeoutMs ?? usualReadyMs);
  const nodes = gates.map((gate) => ({ ...gate, ownMs: gate.waitMs + (readyMs(gate) ?? 0) }));
  const needMs = Math.min(longestPathMs(nodes), sliceMs);
  if (expiry === null || expiry >= now + needMs) return;
  const isOver = expiry < now;
  throw new ConfigError(
    (say) =>
      isOver
        ? `${say('token')} expired ${whenText(expiry, now)}`
        : `${say('token')} expires ${whenText(expiry, now)}, but the gate may take ${formatDuration(needMs)}: the environment could not be deleted then`,
    { hint: (say) => `set a newer token${isOver ? '' : `, or a shorter ${say('timeout')}`}` },
  );
}
