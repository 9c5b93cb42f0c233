import { defineCompletion } from './completion/complete.ts';
import { defineConfig, defineLogin, defineLogout } from './config/define.ts';
import { defineDoctor } from './doctor/doctor.ts';
import {
  defineApiCommand,
  defineEnv,
  defineKeys,
  defineObservations,
  defineOrders,
} from './endpoints/define.ts';
import { defineHub } from './hub/run.ts';
import { defineInit } from './init/define.ts';
import { defineMock } from './mock/commands.ts';
import { defineReceipt } from './receipt/define.ts';
import { defineSelftest } from './selftest/run.ts';
import { defineWebhooks } from './webhooks/define.ts';

export { describeHelp } from './help-json.ts';
export { noCommandError } from './init/first-steps.ts';

/** The groups that a gate does not need. `cli/program.ts` loads them at once. */
export const definitions = {
  init: defineInit,
  orders: defineOrders,
  keys: defineKeys,
  env: defineEnv,
  observations: defineObservations,
  webhooks: defineWebhooks,
  hub: defineHub,
  receipt: defineReceipt,
  config: defineConfig,
  login: defineLogin,
  logout: defineLogout,
  api: defineApiCommand,
  doctor: defineDoctor,
  mock: defineMock,
  selftest: defineSelftest,
  completion: defineCompletion,
};
