import type { Caller, CallerInput, Exchange } from '../../client/caller.ts';
import { mismatchError } from '../../client/schema-mismatch.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { env } from '../../contract/env.ts';
import { orders } from '../../contract/orders.ts';
import { run } from '../../contract/run.ts';
import { webhooks } from '../../contract/webhooks.ts';
import { HttpError } from '../../errors.ts';

/** A read that changes nothing, for each area of the service. */
export interface Probe {
  area: string;
  name: string;
  endpoint: Endpoint;
  input: CallerInput;
  /** Another status code that shows a valid credential: the requested object does not exist. */
  also?: number;
}

export const probes: readonly Probe[] = [
  {
    area: 'runs',
    name: 'run.status',
    endpoint: run['run.status'],
    input: { params: { runId: 'rungate-doctor' } },
    also: 404,
  },
  {
    area: 'environments',
    name: 'env.list',
    endpoint: env['env.list'],
    input: { params: {}, query: { page: 1, pageSize: 1 } },
  },
  {
    area: 'webhooks',
    // Not the event types: the contract does not define their shape, so another server's page would pass for them.
    name: 'webhooks.list',
    endpoint: webhooks['webhooks.list'],
    input: { params: {}, query: { page: 1, pageSize: 1 } },
  },
  { area: 'orders', name: 'orders.summary', endpoint: orders['orders.summary'], input: { params: {} } },
];

/** Makes one attempt. @throws also for a response that is empty or null, which may pass for an empty list */
export async function sendProbe(caller: Caller, { name, endpoint, input }: Probe): Promise<Exchange> {
  const response = await caller.exchange(name, endpoint, input, { attempts: 1 });
  if (response.value !== undefined && response.value !== null) return response;
  const received = response.value === null ? 'null' : 'nothing';
  const hint = 'check the URL: another server may be responding there';
  throw mismatchError(response.request, { field: '', expected: 'an object or an array', received, hint });
}

/**
 * Tells what an error says about the credential: `accepted` if the service itself did not find the object, `unclear` if
 * the 404 may come from another server, null for any other error.
 */
export function notFound({ also }: Probe, error: unknown): 'accepted' | 'unclear' | null {
  if (!(error instanceof HttpError) || error.status !== also) return null;
  return error.error === undefined ? 'unclear' : 'accepted';
}
