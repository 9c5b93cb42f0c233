import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import type { ReceivedRequest } from '../exchange.ts';
import { isLoopbackAddress } from '../listen.ts';
import { jsonResponse, MockError, type RawResponse } from '../response.ts';
import { checkValue } from '../validate.ts';
import type { Fault, Faults } from './faults.ts';
import { checkFault, faultFields, parseFault } from './parse.ts';

/** The endpoint for the faults of a running mock. It belongs to the mock, not to the API. */
export const controlPath = '/_mock/faults';

const faultBody = z.strictObject({
  ...faultFields,
  times: z.optional(z.union([z.int().check(z.nonnegative()), z.literal('all')])),
});

function receivedFault(bytes: Uint8Array): Fault {
  const value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (typeof value === 'object' && value !== null && 'fault' in value) return parseFault(String(value.fault));
  const fault = checkValue(faultBody, value, 'body', (problems) => new UsageError(problems));
  return checkFault(fault.times === 'all' ? { ...fault, times: Number.POSITIVE_INFINITY } : fault, 'body');
}

/** `GET` lists the pending faults, `POST` adds one, `DELETE` clears all. Only this machine may use it. */
export function controlFaults(
  { address, headers, method, bytes }: ReceivedRequest,
  faults: Faults,
): RawResponse {
  if (!isLoopbackAddress(address) || headers.origin !== undefined)
    throw new MockError(403, 'Forbidden', 'only this machine can set faults, and web pages cannot');
  if (method === 'DELETE') faults.clear();
  else if (method === 'POST') {
    try {
      faults.add(receivedFault(bytes));
    } catch (error) {
      throw new MockError(422, 'Not a fault', (error as Error).message);
    }
  } else if (method !== 'GET')
    throw new MockError(405, 'Method not allowed', `${controlPath} takes GET, POST and DELETE`);
  const list = faults.list.map((fault) => ({
    ...fault,
    times: Number.isFinite(fault.times) ? fault.times : 'all',
  }));
  return jsonResponse(200, { faults: list });
}
