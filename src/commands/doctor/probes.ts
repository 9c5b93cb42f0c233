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
  /** The credential is right also when this status comes: what was asked for is not there. */
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
    // A page that is not the service's would pass for event types, whose shape the contract does not show.
    name: 'webhooks.list',
    endpoint: webhooks['webhooks.list'],
    input: { params: {}, query: { page: 1, pageSize: 1 } },
  },
  { area: 'orders', name: 'orders.summary', endpoint: orders['orders.summary'], input: { params: {} } },
];

/**
 * Sends a probe, in one attempt.
 * @throws whatever is wrong with the response: also that it is nothing or null, which may pass for an empty list
 */
export async function sendProbe(caller: Caller, { name, endpoint, input }: Probe): Promise<Exchange> {
  const reply = await caller.exchange(name, endpoint, input, { attempts: 1 });
  if (reply.value !== undefined && reply.value !== null) return reply;
  const received = reply.value === null ? 'null' : 'nothing';
  const hint = 'check the address: what answers there may not be the service';
  throw mismatchError(reply.request, { field: '', expected: 'an object or an array', received, hint });
}

/**
 * What an error says about the credential: `accepted` if the service itself did not find what was asked for, `unclear`
 * if the same status came from what may be another server; null for any other error.
 */
export function notFound({ also }: Probe, error: unknown): 'accepted' | 'unclear' | null {
  if (!(error instanceof HttpError) || error.status !== also) return null;
  return error.error === undefined ? 'unclear' : 'accepted';
}
