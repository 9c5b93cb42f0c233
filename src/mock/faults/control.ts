import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import type { ReceivedRequest } from '../exchange.ts';
import { isLoopbackAddress } from '../listen.ts';
import { jsonResponse, MockError, type RawResponse } from '../response.ts';
import { checkValue } from '../validate.ts';
import { isDeliveryKind } from './delivery-kinds.ts';
import { type Fault, type FaultKind, type Faults, faultRows, rowOf } from './faults.ts';
import { parseFault, targetOf } from './parse.ts';

/** The endpoint for the faults of a running mock. It belongs to the mock, not to the API. */
export const controlPath = '/_mock/faults';

const whole = z.int().check(z.nonnegative());

/** The fields of a fault besides `times`. Every kind may have every parameter. */
export const faultFields = {
  kind: z.enum(Object.keys(faultRows) as FaultKind[]),
  endpoint: z.optional(z.string()),
  event: z.optional(z.string()),
  skip: z.optional(whole),
  chance: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  fromMs: z.optional(whole),
  untilMs: z.optional(whole),
  status: z.optional(z.int().check(z.minimum(200), z.maximum(599))),
  body: z.optional(z.unknown()),
  headers: z.optional(z.record(z.string(), z.string())),
  text: z.optional(z.string()),
  contentType: z.optional(z.string()),
  merge: z.optional(z.record(z.string(), z.unknown())),
  remove: z.optional(z.array(z.string())),
  forMs: z.optional(whole),
  everyMs: z.optional(whole),
  byMs: z.optional(z.int()),
  seconds: z.optional(z.number()),
};

const faultBody = z.strictObject({
  ...faultFields,
  times: z.optional(z.union([whole, z.literal('all')])),
});

/** @throws UsageError if a parameter is missing, or the kind cannot affect its target */
export function checkFault(
  fault: { [Name in keyof typeof faultFields]?: unknown } & { kind: FaultKind },
  where: string,
): Fault {
  const { kind, endpoint, event } = fault;
  const missing = rowOf(kind).requires;
  if (missing !== undefined && fault[missing] === undefined)
    throw new UsageError(`${where}.${missing}: required`);
  const target = isDeliveryKind(kind) ? event : endpoint;
  return { ...fault, ...(target !== undefined && targetOf(kind, String(target))) } as Fault;
}

function receivedFault(value: unknown): Fault {
  if (typeof value === 'object' && value !== null && 'fault' in value) return parseFault(String(value.fault));
  const fault = checkValue(faultBody, value, 'body', (problems) => new UsageError(problems));
  const { times } = fault;
  return checkFault({ ...fault, ...(times === 'all' && { times: Number.POSITIVE_INFINITY }) }, 'body');
}

/** `GET` lists the pending faults, `POST` adds one, `DELETE` clears all. Only this machine may use it. */
export function controlFaults(
  { address, headers, method, bytes }: ReceivedRequest,
  faults: Faults,
): RawResponse {
  if (!isLoopbackAddress(address) || headers.origin !== undefined)
    throw new MockError(403, 'Forbidden', 'only this machine can set faults, and web pages cannot');
  switch (method) {
    case 'GET':
      break;
    case 'DELETE':
      faults.clear();
      break;
    case 'POST':
      try {
        faults.add(receivedFault(JSON.parse(Buffer.from(bytes).toString('utf8'))));
      } catch (error) {
        throw new MockError(422, 'Not a fault', (error as Error).message);
      }
      break;
    default:
      throw new MockError(405, 'Method not allowed', `${controlPath} takes GET, POST and DELETE`);
  }
  const list = faults.list.map((fault) => ({
    ...fault,
    times: Number.isFinite(fault.times) ? fault.times : 'all',
  }));
  return jsonResponse(200, { faults: list });
}
