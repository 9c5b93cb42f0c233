import { repeated } from '../../client/repeat.ts';
import { HttpError, UsageError } from '../../errors.ts';
import { parsedJson } from '../../json/text.ts';
import { parseApiUrl, receiver } from '../../transport/address.ts';
import { httpTransport } from '../../transport/send.ts';
import { hubRequests } from '../fleet/hub-client.ts';
import { type HubOptions, tokenProblem } from '../fleet/open-hub.ts';
import {
  type DecideResponse,
  detachedPaths,
  type FetchRequest,
  type FetchResponse,
  type ListRequest,
  type ListResponse,
  type RegisterRequest,
  type RegisterResponse,
  type SaveRequest,
} from './protocol.ts';

const timeoutMs = 10_000;

/** Why the hub refuses to let this job go on with a gate: `Refusal`. */
const refusals: Readonly<Record<string, readonly [fact: string, hint: string]>> = {
  unknown: [
    'the hub does not have the gate',
    'it ended more than a day ago, or the hub has lost it: re-run the job of the pull request',
  ],
  replaced: ['a newer gate has replaced the gate', 'the newer gate decides the commit status'],
  leased: ['another job goes on with the gate', 'that job decides the commit status'],
  other: [
    'another gate of the commit has the same commit status, so this one did not begin',
    'give each gate a name under "gates" in .rungate.json: the commit status has that name',
  ],
  done: ['the commit status of the gate is set', 're-run the job of the pull request for another verdict'],
};

/** Returns the error with what the hub's reason means. */
function explained(error: unknown, id: string | undefined): unknown {
  if (!(error instanceof HttpError) || error.error === undefined) return error;
  const [fact, hint] = refusals[error.error] ?? [];
  if (fact === undefined) return error;
  if (error.error === 'other') return new UsageError(fact, { hint });
  return new HttpError(`${fact}: ${id}`, { status: error.status, error: error.error, hint });
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

export type DetachedHub = ReturnType<typeof openDetachedHub>;
