import type { Handlers } from '../service.ts';
import { envHandlers } from './env.ts';
import { keysHandlers } from './keys.ts';
import { observationsHandlers } from './observations.ts';
import { ordersHandlers } from './orders.ts';
import { runHandlers } from './run.ts';
import { webhooksHandlers } from './webhooks.ts';

export const handlers: Handlers = {
  ...ordersHandlers,
  ...keysHandlers,
  ...runHandlers,
  ...envHandlers,
  ...observationsHandlers,
  ...webhooksHandlers,
};
