// Everything that a gate does not need. `cli/program.ts` loads it at once.
export { defineCompletion } from './completion/define.ts';
export { defineConfig, defineLogin, defineLogout } from './config/define.ts';
export { defineDoctor } from './doctor/doctor.ts';
export {
  defineApiCommand,
  defineEnv,
  defineKeys,
  defineObservations,
  defineOrders,
} from './endpoints/define.ts';
export { defineHub } from './hub/run.ts';
export { defineInit } from './init/define.ts';
export { noCommandError } from './init/first-steps.ts';
export { defineMock } from './mock/commands.ts';
export { defineReceipt } from './receipt/define.ts';
export { defineSelftest } from './selftest/run.ts';
export { defineWebhooks } from './webhooks/define.ts';
