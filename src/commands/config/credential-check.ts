import type { Caller } from '../../client/caller.ts';
import { ContractError, HttpError, NetworkError } from '../../errors.ts';
import { notFound, type Probe, probes, sendProbe } from '../doctor/probes.ts';

type CredentialState =
  /** `denied`: the service accepts the credential but refused the read that a gate needs. */
  | { kind: 'accepted'; denied: HttpError | null }
  | { kind: 'refused'; error: HttpError }
  | { kind: 'unchecked'; error: HttpError | ContractError | NetworkError };

const nouns = { apiKey: 'API key', token: 'bearer token' } as const;
const auths = { apiKey: ['key', 'either'], token: ['bearer', 'either'] } as const;

/** Sends one read. Returns null if the service accepted the credential, or else the error. */
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
 * Checks a credential with reads that change nothing: an API key with the status of a run that does not exist, a token
 * with the first environment. If the service denies that read (403), the other reads that take the credential show
 * whether it has few scopes or is refused.
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
  if (denied === null) throw new Error(`no read takes a ${nouns[kind]}`);
  return { kind: 'refused', error: denied };
}

/** Returns the hint for a refused credential that was typed or piped. */
export function refusedHint(kind: 'apiKey' | 'token', { status, hint }: HttpError): string {
  const variable = kind === 'apiKey' ? 'RUNGATE_API_KEY' : 'RUNGATE_TOKEN';
  return `nothing was saved; ${hint}${status === 403 ? `, or set ${variable} to use it unchecked` : ''}`;
}
