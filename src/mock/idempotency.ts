import { MockError } from './reply.ts';
import type { Credential, KeyedReply, State } from './state.ts';

/** A reply that is ready to be sent. */
export interface PlainReply {
  status: number;
  /** JSON text; undefined where there is no body. */
  text: string | undefined;
  headers: Readonly<Record<string, string>>;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function replay(first: KeyedReply, bytes: Uint8Array): PlainReply {
  if (!sameBytes(first.bytes, bytes)) {
    throw new MockError(
      422,
      'Idempotency key reused',
      'Idempotency-Key: this key came before with another body; a new request needs a new key',
    );
  }
  return { status: first.status, text: first.text, headers: { 'idempotency-replayed': 'true' } };
}

/**
 * Runs `handle` once per tenant, endpoint and `Idempotency-Key`; afterwards its first reply is replayed.
 * Only success is kept: after a refusal the same key may be used for the corrected request.
 */
export function once(
  state: State,
  endpoint: string,
  caller: Credential,
  key: string,
  bytes: Uint8Array,
  handle: () => PlainReply,
): PlainReply {
  const index = JSON.stringify([caller.tenant, endpoint, key]);
  const first = state.keyedReplies.get(index);
  if (first !== undefined) return replay(first, bytes);
  const reply = handle();
  state.keyedReplies.set(index, { bytes, status: reply.status, text: reply.text });
  // Said of the first reply too, so that a client need not guess from a header that is not there.
  return { ...reply, headers: { ...reply.headers, 'idempotency-replayed': 'false' } };
}
