import type { Caller, CallerInput, Exchange } from '../../client/caller.ts';
import { mismatchError } from '../../client/schema-mismatch.ts';
import { api, type EndpointName } from '../../contract/index.ts';
import { HttpError, NetworkError, UnexpectedResponseError } from '../../errors.ts';

type CredentialState =
  /** `denied`: the service accepts the credential but refused the read that a gate needs. */
  | { kind: 'accepted'; denied: HttpError | null }
  | { kind: 'refused'; error: HttpError }
  | { kind: 'unchecked'; error: HttpError | UnexpectedResponseError | NetworkError };

const auths = { apiKey: ['key', 'either'], token: ['bearer', 'either'] } as const;

/** Sends one read. Returns null if the service accepted the credential, or else the error. */
async function probeError(
  caller: Caller,
  probe: Probe,
): Promise<HttpError | UnexpectedResponseError | NetworkError | null> {
  try {
    await sendProbe(caller, probe);
    return null;
  } catch (error) {
    if (notFoundBy(probe, error) === 'accepted') return null;
    if (
      error instanceof HttpError ||
      error instanceof UnexpectedResponseError ||
      error instanceof NetworkError
    )
      return error;
    throw error;
  }
}

/**
 * Checks a credential with reads that change nothing: an API key with the status of a run that does not exist, a token
 * with the first environment. If the service denies that read (403), the other reads that take the credential show
 * whether it has few scopes or is refused.
 */
export async function checkCredential(caller: Caller, kind: 'apiKey' | 'token'): Promise<CredentialState> {
  let denied: HttpError | null = null;
  for (const probe of probes) {
    if (!(auths[kind] as readonly string[]).includes(api[probe.name].auth)) continue;
    const error = await probeError(caller, probe);
    if (error === null) return { kind: 'accepted', denied };
    const status = error instanceof HttpError ? error.status : null;
    if (status === 403) denied ??= error as HttpError;
    else if (denied !== null) break;
    else if (status === 401) return { kind: 'refused', error: error as HttpError };
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

/** Sends one request. @throws also for a response that is empty or null, which may pass for an empty list */
export async function sendProbe(caller: Caller, { name, input }: Probe): Promise<Exchange> {
  const response = await caller.exchange(name, api[name], input, { maxRequests: 1 });
  if (response.value !== undefined && response.value !== null) return response;
  const received = response.value === null ? 'null' : 'nothing';
  const hint = 'check the URL: another server may be responding there';
  throw mismatchError(response.request, { field: '', expected: 'an object or an array', received, hint });
}

/**
 * Tells what an error says about the credential: `accepted` if the service itself did not find the object, `unclear` if
 * the 404 may come from another server, null for any other error.
 */
export function notFoundBy({ also }: Probe, error: unknown): 'accepted' | 'unclear' | null {
  if (!(error instanceof HttpError) || error.status !== also) return null;
  return error.error === undefined ? 'unclear' : 'accepted';
}
