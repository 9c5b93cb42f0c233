import type { Caller, CallerInput, Exchange } from '../../client/caller.ts';
import { mismatchError } from '../../client/schema-mismatch.ts';
import { api, type EndpointName } from '../../contract/index.ts';
import { HttpError, NetworkError, RungateError, UnexpectedResponseError } from '../../errors.ts';

/** A read that changes nothing, for each area of the service. */
export interface Probe {
  area: string;
  name: EndpointName;
  input: CallerInput;
  /** Another status code that shows a valid credential: the requested object does not exist. */
  also?: number;
}

const firstItem = { params: {}, query: { page: 1, pageSize: 1 } };

export const probes: readonly Probe[] = [
  { area: 'runs', name: 'run.status', input: { params: { runId: 'rungate-doctor' } }, also: 404 },
  { area: 'environments', name: 'env.list', input: firstItem },
  // Not the event types: the API does not define their shape, so another server's page would pass for them.
  { area: 'webhooks', name: 'webhooks.list', input: firstItem },
  { area: 'orders', name: 'orders.summary', input: { params: {} } },
];

export interface ProbeResult {
  readonly response: Exchange | null;
  /** Null if the service accepted the credential. */
  readonly error: RungateError | null;
  /** The object was not found, but not in the service's error format: the response may come from another server. */
  readonly isUnclear: boolean;
}

/** Sends one request. An empty or null response is an error, since it may pass for an empty list. */
export async function sendProbe(caller: Caller, { name, input, also }: Probe): Promise<ProbeResult> {
  try {
    const response = await caller.exchange(name, api[name], input, { maxRequests: 1 });
    if (response.value !== undefined && response.value !== null)
      return { response, error: null, isUnclear: false };
    const received = response.value === null ? 'null' : 'nothing';
    const hint = 'check the URL: another server may be responding there';
    throw mismatchError(response.request, { field: '', expected: 'an object or an array', received, hint });
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    const isMissing = error instanceof HttpError && error.status === also;
    const isAccepted = isMissing && error.error !== undefined;
    return { response: null, error: isAccepted ? null : error, isUnclear: isMissing && !isAccepted };
  }
}

/** Whether the service, or another server, has responded. */
export function isAnswer({ error }: ProbeResult): boolean {
  return error === null || error instanceof HttpError || error instanceof UnexpectedResponseError;
}

type CredentialState =
  /** `denied`: the service accepts the credential but refused the read that a gate needs. */
  | { kind: 'accepted'; denied: HttpError | null }
  | { kind: 'refused'; error: HttpError }
  | { kind: 'unchecked'; error: RungateError };

const auths: Record<'apiKey' | 'token', readonly string[]> = {
  apiKey: ['key', 'either'],
  token: ['bearer', 'either'],
};

/**
 * Checks a credential with reads that change nothing: an API key with the status of a run that does not exist, a token
 * with the first environment. If the service denies that read (403), the other reads that take the credential show
 * whether it has few scopes or is refused.
 */
export async function checkCredential(caller: Caller, kind: 'apiKey' | 'token'): Promise<CredentialState> {
  let denied: HttpError | null = null;
  for (const probe of probes) {
    if (!auths[kind].includes(api[probe.name].auth)) continue;
    const result = await sendProbe(caller, probe);
    const { error } = result;
    if (error === null) return { kind: 'accepted', denied };
    if (!isAnswer(result) && !(error instanceof NetworkError)) throw error;
    if (error instanceof HttpError && error.status === 403) denied ??= error;
    else if (denied !== null) break;
    else if (error instanceof HttpError && error.status === 401) return { kind: 'refused', error };
    else return { kind: 'unchecked', error };
  }
  // Some read takes each credential, so at least one was denied.
  return { kind: 'refused', error: denied as unknown as HttpError };
}

/** Returns the hint for a refused credential that was typed or piped. */
export function refusedHint(kind: 'apiKey' | 'token', { status, hint }: HttpError): string {
  const variable = kind === 'apiKey' ? 'RUNGATE_API_KEY' : 'RUNGATE_TOKEN';
  return `nothing was saved; ${hint}${status === 403 ? `, or set ${variable} to use it unchecked` : ''}`;
}
