import type { Caller } from '../../client/caller.ts';
import { ContractError, HttpError, NetworkError } from '../../errors.ts';
import { notFound, type Probe, probes, sendProbe } from '../doctor/probes.ts';

/** What the service says of a credential. */
export type CredentialState =
  /** `denied`: the service accepts it, and does not allow the read that a gate needs. */
  | { kind: 'accepted'; denied: HttpError | null }
  | { kind: 'refused'; error: HttpError }
  | { kind: 'unchecked'; error: HttpError | ContractError | NetworkError };

const what = { apiKey: 'API key', token: 'bearer token' } as const;
const auths = { apiKey: ['key', 'either'], token: ['bearer', 'either'] } as const;

/** One read. Returns null if the credential was accepted, else the error. */
async function read(caller: Caller, probe: Probe): Promise<HttpError | ContractError | NetworkError | null> {
  try {
    await sendProbe(caller, probe);
    return null;
  } catch (error) {
    if (notFound(probe, error) === 'accepted') return null;
    if (error instanceof HttpError || error instanceof ContractError || error instanceof NetworkError)
      return error;
    throw error;
  }
}

/**
 * Asks the service about a credential, with reads that change nothing: an API key for the status of a run that does not
 * exist, a token for the first environment. If that read is not allowed (403), the other reads that take the credential
 * tell one of few scopes from one that is refused.
 */
export async function checkCredential(caller: Caller, kind: 'apiKey' | 'token'): Promise<CredentialState> {
  let denied: HttpError | null = null;
  for (const probe of probes) {
    if (!(auths[kind] as readonly string[]).includes(probe.endpoint.auth)) continue;
    const error = await read(caller, probe);
    if (error === null) return { kind: 'accepted', denied };
    const status = error instanceof HttpError ? error.status : null;
    if (status === 403) denied ??= error as HttpError;
    else if (denied !== null) break;
    else if (status === 401) return { kind: 'refused', error: error as HttpError };
    else return { kind: 'unchecked', error };
  }
  if (denied === null) throw new Error(`no read takes a ${what[kind]}`);
  return { kind: 'refused', error: denied };
}

/** What to do about a refused credential that was typed or piped. */
export function refusedHint(kind: 'apiKey' | 'token', { status, hint }: HttpError): string {
  const variable = kind === 'apiKey' ? 'RUNGATE_API_KEY' : 'RUNGATE_TOKEN';
  return `nothing was kept; ${hint}${status === 403 ? `, or set ${variable} to use it unchecked` : ''}`;
}
