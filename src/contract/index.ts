// After a change in this folder, run `npm run generate`. It writes the client's methods, the types, the OpenAPI document and the pages.
import { env } from './env.ts';
import { keys } from './keys.ts';
import { observations } from './observations.ts';
import { orders } from './orders.ts';
import { run } from './run.ts';
import { webhooks } from './webhooks.ts';

/** The whole API of the service: each endpoint under the name that it has everywhere. */
export const api = { ...orders, ...keys, ...run, ...env, ...observations, ...webhooks };

export type ServiceApi = typeof api;
export type { EndpointName } from './service-types.ts';
