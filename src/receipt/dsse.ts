import * as z from 'zod/mini';
import { Refused } from './error.ts';
import { parseObject, readAs, readBy, refuseDuplicates } from './json.ts';
import { fromBase64, type Key, sign } from './keys.ts';
import { payloadType as inToto } from './statement.ts';

/** A signature of an envelope. */
export interface EnvelopeSignature {
  /** A hint to the key, which is not signed. rungate writes the SHA-256 of the public key in DER (SPKI), in hex. */
  keyid?: string;
  /** Base64. */
  sig: string;
}

/** A signed payload: a DSSE envelope 1.0, as JSON. */
export interface Envelope {
  /** Base64. */
  payload: string;
  payloadType: string;
  signatures: EnvelopeSignature[];
}

/** A receipt of 1,000 runs is smaller. */
export const maxBytes = 4 * 1024 * 1024;

/** Returns the bytes that are signed: the pre-authentication encoding of DSSE. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Returns a payload in an envelope that the key signs. */
export function seal(payload: Uint8Array, key: Key, payloadType: string = inToto): Envelope {
  const sig = sign(key, preAuthEncoding(payloadType, payload)).toString('base64');
  return {
    payload: Buffer.from(payload).toString('base64'),
    payloadType,
    signatures: [{ keyid: key.id, sig }],
  };
}

const base64 = readBy(fromBase64, 'is not base64');

/** Each of the signatures is compared with each trusted key, so there is a limit. */
const envelope = z.looseObject({
  payload: base64,
  payloadType: z.string(),
  signatures: z
    .array(z.looseObject({ keyid: z.optional(z.string()), sig: base64 }))
    .check(z.minLength(1), z.maxLength(100)),
});

/** Reads an envelope, and decodes its parts. Nothing in it is trusted yet. @throws Refused */
export function openEnvelope(bytes: Uint8Array) {
  if (bytes.length > maxBytes) throw new Refused('the file is larger than 4 MiB');
  const { text, value } = parseObject(bytes, 'the file');
  if (value._type !== undefined && value.payload === undefined)
    throw new Refused(
      'the file is a statement without a signature',
      'a gate without RUNGATE_RECEIPT_KEY writes it for another signer; set the key, or verify the signed file',
    );
  refuseDuplicates(text, 'the envelope');
  const { payload, payloadType, signatures } = readAs(envelope, value);
  return { payload, payloadType, signatures: signatures.map(({ sig }) => sig) };
}
