import type { env } from '../../contract/env.ts';
import type { Handlers, HandlersOf } from '../handler.ts';
import { environmentHandlers } from './environments.ts';
import { keysHandlers } from './keys.ts';
import { observationsHandlers } from './observations.ts';
import { ordersHandlers } from './orders.ts';
import { runHandlers } from './run.ts';
import { variableHandlers } from './variables.ts';
import { webhooksHandlers } from './webhooks.ts';

export const envHandlers: HandlersOf<typeof env> = { ...environmentHandlers, ...variableHandlers };

export const handlers: Handlers = {
  ...ordersHandlers,
  ...keysHandlers,
  ...runHandlers,
  ...envHandlers,
  ...observationsHandlers,
  ...webhooksHandlers,
};
