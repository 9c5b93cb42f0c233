export { type Clock, systemClock } from './clock.ts';
export type { RunState, TriggerBody } from './contract/run.ts';
export type * from './contract/service-types.ts';
export {
  ConfigError,
  ContractError,
  CredentialError,
  type ErrorReport,
  HttpError,
  NetworkError,
  type NetworkFault,
  RungateError,
  StoppedError,
  UsageError,
} from './errors.ts';
export type { CallOptions, ClientOptions } from './http/client.ts';
export type { ExactOptions, ExactOrder } from './http/orders-exact.ts';
export { createClient, type ServiceClient } from './http/service.ts';
