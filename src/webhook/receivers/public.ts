export { type WebhookErrorCode, WebhookVerificationError } from '../error.ts';
export type { Delivery, ReceiveOptions } from './delivery.ts';
export { type ReceiveErrorCode, type RefusalStatus, statusOf, WebhookReceiveError } from './error.ts';
