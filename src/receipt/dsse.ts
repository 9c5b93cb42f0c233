import { Refused } from './error.ts';
import { isObject, own, parseObject, refuseDuplicates } from './json.ts';
import { fromBase64, type PrivateKey, sign, toBase64 } from './keys.ts';
import { payloadType } from './statement.ts';

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

/** The parts of an envelope, decoded. */
export interface OpenEnvelope {
  payloadType: string;
  payload: Uint8Array<ArrayBuffer>;
  signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** A receipt of 1,000 runs is smaller. */
export const maxBytes = 4 * 1024 * 1024;
/** Each is compared with each trusted key. */
const maxSignatures = 100;

const encoder = new TextEncoder();

/** Returns the bytes that are signed: the pre-authentication encoding of DSSE. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const type = encoder.encode(payloadType);
  const parts = [
    encoder.encode(`DSSEv1 ${type.length} `),
    type,
    encoder.encode(` ${payload.length} `),
    payload,
  ];
  const message = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  return message;
}

/** Returns an envelope with one signature. */
export function envelopeOf(
  payloadType: string,
  payload: Uint8Array,
  signature: { keyId: string; bytes: Uint8Array },
): Envelope {
  const { keyId, bytes } = signature;
  return { payload: toBase64(payload), payloadType, signatures: [{ keyid: keyId, sig: toBase64(bytes) }] };
}

function base64Field(value: unknown, name: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? fromBase64(value) : null;
  if (bytes === null) throw new Refused(`the field ${name} is not base64`);
  return bytes;
}

function signatureOf(value: unknown, index: number): Uint8Array<ArrayBuffer> {
  const name = `signatures[${index}]`;
  if (!isObject(value)) throw new Refused(`${name} is not an object`);
  const keyid = own(value, 'keyid') ?? '';
  if (typeof keyid !== 'string') throw new Refused(`the field ${name}.keyid is not a string`);
  return base64Field(own(value, 'sig'), `${name}.sig`);
}

/**
 * Reads an envelope. Nothing in it is trusted yet.
 * @throws Refused
 */
export function openEnvelope(bytes: Uint8Array): OpenEnvelope {
  if (bytes.length > maxBytes) throw new Refused('the file is larger than 4 MiB');
  const { text, value } = parseObject(bytes, 'the file');
  if (own(value, '_type') !== undefined && own(value, 'payload') === undefined)
    throw new Refused(
      'the file is a statement without a signature',
      'a gate without RUNGATE_RECEIPT_KEY writes it for another signer; set the key, or verify the signed file',
    );
  refuseDuplicates(text, 'the envelope');
  const payload = base64Field(own(value, 'payload'), 'payload');
  const payloadType = own(value, 'payloadType');
  if (typeof payloadType !== 'string') throw new Refused('the field payloadType is not a string');
  const signatures = own(value, 'signatures');
  if (!Array.isArray(signatures) || signatures.length === 0)
    throw new Refused('the envelope has no signatures');
  if (signatures.length > maxSignatures)
    throw new Refused(`the envelope has more than ${maxSignatures} signatures`);
  return { payload, payloadType, signatures: signatures.map(signatureOf) };
}

/** Returns the text of a statement in an envelope that the key signs. */
export async function signStatement(text: string, key: PrivateKey): Promise<Envelope> {
  const payload = new TextEncoder().encode(text);
  const bytes = await sign(key, preAuthEncoding(payloadType, payload));
  return envelopeOf(payloadType, payload, { keyId: key.id, bytes });
}
