import type { EndpointName } from '../contract/index.ts';
import { knownCaller } from './auth.ts';
import { MockError } from './error.ts';
import type { Exchange } from './exchange.ts';
import { decide, type Limits, type RequestKind, type Spent } from './limits.ts';
import type { State } from './state.ts';

/** The endpoints whose requests count as create operations. */
const creating: readonly EndpointName[] = [
  'run.trigger',
  'keys.create',
  'env.create',
  'env.vars.create',
  'observations.create',
  'observations.attach',
  'webhooks.create',
];

function kindOf({ method, route }: Exchange): RequestKind {
  if (method === 'GET') return 'read';
  return route.kind === 'endpoint' && creating.includes(route.name) ? 'create' : 'other';
}

/** Counts a request, and returns the headers that tell its caller what is left; a MockError 429 beyond the limit. */
export type Spend = (exchange: Exchange) => Readonly<Record<string, string>>;

const counted: Record<keyof Limits, string> = {
  all: 'requests',
  read: 'reads',
  create: 'create operations',
};

const seconds = (ms: number) => String(Math.ceil(ms / 1000));

/** The documented limits, each tenant by itself, and each address for requests without a good credential. */
export function documentedBudget(state: State): Spend {
  const logs = new Map<string, readonly Spent[]>();
  return (exchange) => {
    const tenant = knownCaller(exchange.headers, state.credentials)?.tenant;
    const caller = tenant === undefined ? `address ${exchange.address}` : `tenant ${tenant}`;
    const kind = kindOf(exchange);
    const { allowed, name, limit, remaining, resetMs, log } = decide(
      logs.get(caller) ?? [],
      kind,
      state.clock.monotonic(),
    );
    logs.set(caller, log);
    const headers = {
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': seconds(resetMs),
    };
    if (allowed) return headers;
    const details = `${limit} ${counted[name]} a minute are allowed; the next one in ${seconds(resetMs)} s`;
    throw new MockError(429, 'Rate limit exceeded', details, { ...headers, 'retry-after': seconds(resetMs) });
  };
}

export const noBudget: Spend = () => ({});
