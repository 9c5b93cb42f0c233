export type { CallOptions, ClientOptions } from './client/caller.ts';
export { createClient, type PagedMethod, type ServiceClient } from './client/create-client.ts';
export type { Credentials } from './client/credentials.ts';
export type { ExactOptions, ExactOrder } from './client/exact-orders.ts';
export { fieldsOf, otherFields } from './client/fields.ts';
export type { ExchangeEvent } from './client/options.ts';
export { type Clock, systemClock } from './clock.ts';
export type { Method } from './contract/endpoint.ts';
export type {
  CreatedRun,
  CreatedRunFields,
  ProcessBody,
  RunState,
  TagsBody,
  TriggerBody,
  TriggerFields,
} from './contract/run.ts';
export type * from './contract/service-types.ts';
export type * from './contract/types.ts';
export {
  ConfigError,
  CredentialError,
  type ErrorParts,
  type ErrorReport,
  type ExchangeFacts,
  HttpError,
  type HttpErrorParts,
  NetworkError,
  type NetworkFault,
  RungateError,
  type StopCause,
  StoppedError,
  type StopSignal,
  UnexpectedResponseError,
  type UnexpectedResponseErrorParts,
  UsageError,
} from './errors.ts';
export { exitCodeOf, exitCodes } from './exit.ts';
export type { EnvironmentStep, GateEvent } from './gate/events.ts';
export type { GateResult } from './gate/plan/graph.ts';
export type { GatesEvent } from './gate/plan/plan.ts';
export type { Action, GateOverrides, Result, Verdict } from './gate/policy.ts';
export type {
  Cancellation,
  DeployedReport,
  DiscardedRun,
  GateReport,
  GatesReport,
  NamedGateReport,
  PreviewReport,
  RunReport,
  RunSubject,
  StartedRun,
  VersionRead,
} from './gate/result-types.ts';
export { gate } from './library/gate.ts';
export type {
  ExistingRunsOptions,
  GateDeployed,
  GateOptions,
  NewRunOptions,
  OneGateOptions,
  RuleOptions,
  SharedGateOptions,
} from './library/gate-options.ts';
export { gates } from './library/gates.ts';
export type { GatesOptions, NamedGate } from './library/gates-options.ts';
export { type Mock, type MockDelivery, type MockFaults, type MockRun, startMock } from './library/mock.ts';
export type { StartOptions } from './library/plan-call.ts';
export type { ReceiptOptions, ReportWithReceipt } from './library/receipt.ts';
export { type StartRunOptions, startRun } from './library/start-run.ts';
export type { DataSizes } from './mock/data/account.ts';
export type { OwnOrder } from './mock/data/orders.ts';
export type { DeliveryStatus, EventType } from './mock/data/webhooks.ts';
export type { RawQuery, RecordedRequest } from './mock/exchange.ts';
export type { Fault, FaultKinds, FaultWhen } from './mock/faults/faults.ts';
export type { DeliveryFaultKind, FaultKind, RequestFaultKind } from './mock/faults/kinds.ts';
export type { FaultParameters } from './mock/faults/play.ts';
export type { Ending } from './mock/handlers/run.ts';
export type { DeliveryScope, MockOptions, RateLimit } from './mock/options.ts';
export type { Counts, Outcome } from './mock/runs.ts';
export type { DeployedPage, GateHub, GatePreview, LibraryOptions } from './options/library-options.ts';
export type { Envelope, EnvelopeSignature } from './receipt/dsse.ts';
export type {
  ReceiptDeployment,
  ReceiptFacts,
  ReceiptResult,
  ReceiptRun,
  ResourceDescriptor,
  Statement,
  TestedCommit,
} from './receipt/statement.ts';
export type { Redact as Conceal } from './redact.ts';
export type { Artifact } from './subject.ts';
export type { PreparedRequest, RawReply, SendOptions, Transport } from './transport/transport.ts';
export {
  type Signed,
  type SignOptions,
  sign,
  type Verified,
  type VerifyOptions,
  verify,
  type WebhookErrorCode,
  WebhookVerificationError,
} from './webhook/node.ts';
