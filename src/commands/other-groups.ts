import { env } from '../contract/env.ts';
import { keys } from '../contract/keys.ts';
import { observations } from '../contract/observations.ts';
import { orders } from '../contract/orders.ts';
import { webhooks } from '../contract/webhooks.ts';
import { completion } from './completion/complete.ts';
import { configSet, configUnset } from './config/change.ts';
import { login, logout } from './config/login.ts';
import { configGet, configList, configPath } from './config/show.ts';
import { doctor } from './doctor/doctor.ts';
import { api } from './endpoints/api-call.ts';
import { derive } from './endpoints/derive.ts';
import { envPrune } from './endpoints/env-prune.ts';
import { keysCreate } from './endpoints/keys-create.ts';
import { ordersSummary } from './endpoints/orders-summary.ts';
import { hub } from './hub/run.ts';
import { init } from './init/init.ts';
import { mockExec, mockServe } from './mock/commands.ts';
import { noList } from './no-list.ts';
import { receiptKeygen } from './receipt/keygen.ts';
import { receiptShow } from './receipt/show.ts';
import { receiptVerify } from './receipt/verify.ts';
import { selftest } from './selftest/run.ts';
import { noteOf, type Spec } from './spec.ts';
import { webhooksListen } from './webhooks/listen.ts';
import { webhooksSign } from './webhooks/sign.ts';
import { webhooksVerify } from './webhooks/verify.ts';

export { describeHelp } from './help-json.ts';
export { noCommandError } from './init/first-steps.ts';

/** The commands and groups that a gate does not need, in the order of the help. `cli/program.ts` loads them together. */
export const otherGroups: readonly Spec[] = [
  init,
  selftest,
  doctor,
  {
    name: 'config',
    summary: 'show settings and change your profile',
    heading: 'Settings:',
    commands: [configList, configGet, configSet, configUnset, configPath],
  },
  login,
  logout,
  completion,
  {
    name: 'env',
    summary: 'manage environments and their variables',
    heading: 'Service:',
    commands: [...derive(env), envPrune],
  },
  {
    name: 'keys',
    summary: 'create and delete API keys',
    heading: 'Service:',
    notes: noteOf(noList.keys),
    commands: derive(keys, { 'keys.create': keysCreate }),
  },
  {
    name: 'observations',
    summary: 'read and manage findings of explorations',
    heading: 'Service:',
    commands: derive(observations),
  },
  {
    name: 'orders',
    summary: 'list orders and verify their summary',
    heading: 'Service:',
    commands: derive(orders, { 'orders.summary': ordersSummary }),
  },
  {
    name: 'webhooks',
    summary: 'manage, receive and verify webhooks',
    heading: 'Service:',
    commands: [...derive(webhooks), webhooksVerify, webhooksSign, webhooksListen],
  },
  api,
  {
    name: 'mock',
    summary: 'run a mock of the service',
    heading: 'Tools:',
    commands: [mockServe, mockExec],
  },
  hub,
  {
    name: 'receipt',
    summary: 'create receipt keys; show and verify receipts',
    heading: 'Tools:',
    commands: [receiptKeygen, receiptShow, receiptVerify],
  },
];
