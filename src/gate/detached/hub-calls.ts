import { repeated } from '../../client/repeat.ts';
import { HttpError, UsageError } from '../../errors.ts';
import { parsedJson } from '../../json/text.ts';
import { parseApiUrl, receiver } from '../../transport/address.ts';
import { httpTransport } from '../../transport/send.ts';
import { hubRequests } from '../fleet/hub-client.ts';
import { type HubOptions, tokenProblem } from '../fleet/open-hub.ts';
import type { Refusal } from './entry.ts';
import {
  type DecideResponse,
  detachedPaths,
  type FetchRequest,
  type FetchResponse,
  type ListRequest,
  type ListResponse,
  type RegisterRequest,
  type RegisterResponse,
  refusals,
  type SaveRequest,
} from './protocol.ts';

const timeoutMs = 10_000;

/** Returns the error for a gate whose commit status belongs to another one. */
export function collision(): UsageError {
  const { fact, hint } = refusals.other;
  return new UsageError(fact, { hint });
}

/** Returns the error with what the hub's reason means. */
function explained(error: unknown, id: string | undefined): unknown {
  const reason = error instanceof HttpError ? error.error : undefined;
  if (reason === undefined || !Object.hasOwn(refusals, reason)) return error;
  if (reason === 'other') return collision();
  const { status, fact, hint } = refusals[reason as Refusal];
  return new HttpError(`${fact}: ${id}`, { status, error: reason, hint });
}

/** Opens the calls about detached gates. Each is repeated after a fault that may pass. @throws RungateError */
export function openDetachedHub(options: HubOptions) {
  const { caPem, proxyEnv, clock, nameOf } = options;
  const to = receiver('hub', nameOf);
  const url = parseApiUrl(options.url, to, options.insecureHttp);
  const problem = tokenProblem(options, to);
  if (problem !== null) throw problem;
  const transport = httpTransport({ caPem, proxyEnv, to });
  const { post } = hubRequests({ url, token: String(options.token), transport, to });
  const call = async (path: string, body: object & { id?: string }): Promise<unknown> => {
    try {
      const { text } = await repeated(() => post(path, body, { timeoutMs }), clock);
      return parsedJson(text);
    } catch (error) {
      throw explained(error, body.id);
    }
  };
  return {
    register: (request: RegisterRequest) =>
      call(detachedPaths.register, request) as Promise<RegisterResponse>,
    save: async (request: SaveRequest) => void (await call(detachedPaths.save, request)),
    fetch: (request: FetchRequest) => call(detachedPaths.fetch, request) as Promise<FetchResponse>,
    decide: (request: FetchRequest) => call(detachedPaths.decide, request) as Promise<DecideResponse>,
    list: (request: ListRequest) => call(detachedPaths.list, request) as Promise<ListResponse>,
    close: () => transport.close(),
  };
}
