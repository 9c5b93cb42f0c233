export { type WebhookErrorCode, WebhookVerificationError } from './error.ts';
export { defaultHeaderNames, type HeaderNames, type HeadersInput } from './headers.ts';
export type { Body, Secret, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';
