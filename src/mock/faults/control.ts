import * as z from 'zod/mini';
import { UsageError } from '../../errors.ts';
import type { Exchange } from '../exchange.ts';
import { isLoopbackAddress } from '../local.ts';
import { MockError } from '../reply.ts';
import { describeProblems } from '../validate.ts';
import type { Fault, Faults } from './faults.ts';
import type { FaultKind } from './kinds.ts';
import { endpointOf, faultNames, parseFault } from './parse.ts';

/** Where faults are set from outside. The mock's own: no part of the interface. */
export const controlPath = '/_mock/faults';

const whole = z.int().check(z.nonnegative());
const times = z.union([whole, z.literal('all')]);
const headers = z.record(z.string(), z.string());

/** A fault as JSON: what a kind takes beside its name is the same for all of them here. */
const faultBody = z.strictObject({
  kind: z.enum(['status', 'reply', 'patch', ...(faultNames as FaultKind[])]),
  endpoint: z.optional(z.string()),
  times: z.optional(times),
  skip: z.optional(whole),
  chance: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  fromMs: z.optional(whole),
  untilMs: z.optional(whole),
  status: z.optional(z.int().check(z.minimum(200), z.maximum(599))),
  body: z.optional(z.unknown()),
  headers: z.optional(headers),
  text: z.optional(z.string()),
  contentType: z.optional(z.string()),
  merge: z.optional(z.record(z.string(), z.unknown())),
  remove: z.optional(z.array(z.string())),
  forMs: z.optional(whole),
  everyMs: z.optional(whole),
  byMs: z.optional(z.int()),
  seconds: z.optional(z.number()),
});

/** The parts that a kind cannot do without. */
const needed: Readonly<Partial<Record<FaultKind, 'status' | 'text'>>> = { status: 'status', reply: 'text' };

function faultOf(value: unknown): Fault {
  if (typeof value === 'object' && value !== null && 'fault' in value) return parseFault(String(value.fault));
  const result = faultBody.safeParse(value);
  if (!result.success) throw new UsageError(describeProblems('body', value, result.error.issues));
  const { times: often, endpoint, ...rest } = result.data;
  const missing = needed[rest.kind];
  if (missing !== undefined && rest[missing] === undefined) throw new UsageError(`body.${missing}: required`);
  return {
    ...rest,
    ...(endpoint === undefined ? {} : { endpoint: endpointOf(endpoint) }),
    ...(often === undefined ? {} : { times: often === 'all' ? Number.POSITIVE_INFINITY : often }),
  } as Fault;
}

function shown(faults: Faults): Response {
  const list = faults.list.map((fault) => ({
    ...fault,
    times: Number.isFinite(fault.times) ? fault.times : 'all',
  }));
  return Response.json({ faults: list });
}

function refused({ status, body }: MockError): Response {
  return Response.json(body, { status });
}

/** `GET`: the faults that are pending; `POST`: one more; `DELETE`: none any more. From this machine only. */
export function controlFaults(exchange: Exchange, faults: Faults): Response {
  if (!isLoopbackAddress(exchange.address) || exchange.headers.origin !== undefined)
    return refused(new MockError(403, 'Forbidden', 'faults are set from this machine only'));
  switch (exchange.method) {
    case 'GET':
      return shown(faults);
    case 'DELETE':
      faults.clear();
      return shown(faults);
    case 'POST':
      try {
        faults.add(faultOf(JSON.parse(Buffer.from(exchange.bytes).toString('utf8'))));
        return shown(faults);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return refused(new MockError(422, 'Not a fault', why));
      }
    default:
      return refused(new MockError(405, 'Method not allowed', `${controlPath} takes GET, POST and DELETE`));
  }
}
