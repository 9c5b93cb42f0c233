import { env } from './env.ts';
import { keys } from './keys.ts';
import { observations } from './observations.ts';
import { orders } from './orders.ts';
import { run } from './run.ts';
import { webhooks } from './webhooks.ts';

/** The whole API of the service: 37 endpoints, each under the name that it has everywhere. */
export const api = { ...orders, ...keys, ...run, ...env, ...observations, ...webhooks };

export type ServiceApi = typeof api;
export type { EndpointName } from './service-types.ts';
