import * as z from 'zod/mini';
import * as option from '../client/check-options.ts';
import { originOf } from '../mock/cors.ts';
import type { DataSizes } from '../mock/data/account.ts';
import type { OwnOrder } from '../mock/data/orders.ts';
import type { Fault } from '../mock/faults/faults.ts';
import { checkFault, faultFields } from '../mock/faults/parse.ts';
import { endings } from '../mock/handlers/run.ts';
import { deliveryScopes, type MockOptions, rateLimits } from '../mock/options.ts';
import { type Counts, outcomes } from '../mock/runs.ts';

const outcome = option.oneOf(outcomes);
const count = z.optional(option.whole(0));
const fault = option.plain(
  z.strictObject({ ...faultFields, times: z.optional(option.whole(0, Number.POSITIVE_INFINITY)) }),
) as unknown as option.OptionType<Fault>;

const orders = z.array(
  option.optionsOf<OwnOrder>({
    id: z.optional(option.text),
    customer: z.optional(option.text),
    total: option.text,
    currency: z.optional(option.text),
    placedAt: z.optional(option.text),
  }),
);

const mockOptions = option.optionsOf<MockOptions>({
  port: z.optional(option.whole(0, 65_535)),
  host: z.optional(option.text),
  allowHosts: z.optional(option.texts),
  cors: z.optional(option.texts),
  seed: z.optional(option.whole(0)),
  clock: z.optional(option.clock),
  outcome: z.optional(z.union([outcome, z.array(outcome).check(z.minLength(1))])),
  duration: z.optional(option.notNegative),
  retryAfterSeconds: z.optional(option.notNegative),
  apiKey: z.optional(option.text),
  token: z.optional(option.text),
  counts: z.optional(option.optionsOf<Partial<Counts>>({ failed: count, blocked: count })),
  appUrlBase: z.optional(option.text),
  data: z.optional(
    option.optionsOf<Partial<DataSizes>>({
      orders: z.optional(z.union([option.whole(0), orders])),
      environments: count,
      observations: count,
      webhooks: count,
      deliveries: count,
    }),
  ),
  rateLimit: z.optional(option.oneOf(rateLimits)),
  deliveries: z.optional(option.oneOf(deliveryScopes)),
  tenantSecret: z.optional(option.text),
  faults: z.optional(z.array(fault)),
  deployed: z.optional(option.text),
  page: z.optional(option.flag),
});

/** @throws UsageError */
export function faultFor(given: unknown): Fault {
  return checkFault(option.checkOptions(fault, given, 'fault'), 'fault');
}

export const endingFor = (given: unknown) => option.checkOptions(option.oneOf(endings), given, 'endRun');
export const versionsFor = (given: unknown) => option.checkOptions(option.text, given, 'deploy');

/** @throws UsageError */
export function mockOptionsOf(given: unknown): MockOptions {
  const options = option.checkOptions(mockOptions, given, 'startMock');
  const faults = options.faults?.map((one) => checkFault(one, 'fault'));
  const cors = options.cors?.map((origin) => originOf('cors', origin));
  return Object.assign(options, { faults, cors });
}
