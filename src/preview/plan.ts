import { expiryOf, whenText } from '../client/credential-problems.ts';
import type { TriggerBody } from '../contract/run.ts';
import { formatDuration } from '../duration.ts';
import { ConfigError, CredentialError, type NameOf } from '../errors.ts';
import type { Rules } from '../gate/limits.ts';
import { longestPathMs, type PlanNode } from '../gate/plan/graph.ts';
import type { Preview } from '../gate/start.ts';
import type { GatePreview } from '../options/library-options.ts';
import { parseUrl } from '../parse-url.ts';
import { parseApiUrl, receiver } from '../transport/address.ts';
import { previewKey } from './mark.ts';

/** A gate with the body of its run, and the preview that it asks for. */
export interface AskedGate<Settings = unknown> extends PlanNode {
  rules: Rules;
  settings: Settings;
  body: TriggerBody;
  preview: GatePreview | undefined;
}

export const usualReadyMs = 300_000;

/** Returns the URL of a page: itself, or a path at the deployment. */
export function pageUrl(page: string, baseUrl: URL): string {
  return page.startsWith('/') ? (parseUrl(page, baseUrl.href)?.href ?? page) : page;
}

interface PlanningOptions {
  insecureHttp: boolean | undefined;
  nameOf: NameOf;
}

/** Returns the preview of a gate, whose environment is the one to copy. @throws ConfigError for a URL that rungate does not use */
function previewOf(
  settings: GatePreview,
  body: TriggerBody,
  { insecureHttp, nameOf }: PlanningOptions,
): Preview {
  const to = receiver('deployment', nameOf);
  const baseUrl = parseApiUrl(String(settings.baseUrl), to, insecureHttp);
  const { readyUrl, readyTimeoutMs = usualReadyMs, copyVariables = false } = settings;
  const page = readyUrl && pageUrl(String(readyUrl), baseUrl);
  const toPage = { ...to, server: 'page', address: nameOf('preview.readyUrl') } as const;
  const model = body.environmentKey ?? null;
  if (copyVariables && model === null)
    throw new ConfigError('no environment is given to copy variables from', {
      hint: `set ${nameOf('environment')}, or leave out ${nameOf('preview.copyVariables')}`,
    });
  return {
    baseUrl,
    readyUrl: page === undefined ? baseUrl : parseApiUrl(page, toPage, insecureHttp),
    readyTimeoutMs,
    copyVariables,
    model,
    version: body.commitSha ?? null,
  };
}

/**
 * Returns the gates with their previews, and with the keys of their environments in the bodies of their runs. Gates with the same
 * deployment share one.
 * @param jobHashOf returns a hash in hex that is the same in all re-runs of the job for the same text, and for no other job
 * @throws ConfigError before anything is sent
 */
export function planPreviews<Settings>(
  gates: readonly AskedGate<Settings>[],
  jobHashOf: (text: string) => string,
  options: PlanningOptions,
): (Omit<AskedGate<Settings>, 'preview'> & { preview: Preview | undefined })[] {
  const groups = new Map<string, TriggerBody[]>();
  const planned = gates.map((gate) => {
    if (gate.preview === undefined) return { ...gate, preview: undefined, group: '' };
    const { environmentKey: _model, ...body } = gate.body;
    const preview = previewOf(gate.preview, gate.body, options);
    const { baseUrl, model, copyVariables, version } = preview;
    const group = JSON.stringify([baseUrl.href, model, copyVariables, version]);
    groups.set(group, [...(groups.get(group) ?? []), body]);
    return { ...gate, body, preview, group };
  });
  // Without the facts of a job, each hash is random.
  const keys = new Map(
    [...groups].map(([group, bodies]) => [group, previewKey(jobHashOf(JSON.stringify([group, bodies])))]),
  );
  return planned.map(({ group, ...gate }) => {
    const { body, preview } = gate;
    return preview === undefined ? gate : { ...gate, body: { ...body, environmentKey: keys.get(group) } };
  });
}

/**
 * Refuses a token that could not delete the environments of gates at the end.
 * @param deployedMs how long they wait for the deployed build
 * @param sliceMs the time after which another command goes on, with its own token
 * @throws CredentialError without a token, ConfigError if it expires too early
 */
export function checkToken(
  token: string | undefined,
  nameOf: NameOf,
  now: number,
  gates: readonly AskedGate[],
  deployedMs: number,
  sliceMs = Number.POSITIVE_INFINITY,
): void {
  if (gates.every(({ preview }) => preview === undefined)) return;
  if (token === undefined)
    throw new CredentialError(
      'no bearer token is set: rungate creates an environment for the deployment and deletes it, which an API key cannot do',
      { hint: nameOf('give.bearer') },
    );
  const expiry = expiryOf(token);
  const readyMs = ({ preview }: AskedGate) => preview && (preview.readyTimeoutMs ?? usualReadyMs);
  const nodes = gates.map((gate) => ({
    ...gate,
    ownMs: gate.rules.timeoutMs + deployedMs + (readyMs(gate) ?? 0),
  }));
  const needMs = Math.min(longestPathMs(nodes), sliceMs);
  if (expiry === null || expiry >= now + needMs) return;
  const isOver = expiry < now;
  throw new ConfigError(
    isOver
      ? `${nameOf('token')} expired ${whenText(expiry, now)}`
      : `${nameOf('token')} expires ${whenText(expiry, now)}, but the gate may take ${formatDuration(needMs)}: the environment could not be deleted then`,
    { hint: `set a newer token${isOver ? '' : `, or a shorter ${nameOf('timeout')}`}` },
  );
}
