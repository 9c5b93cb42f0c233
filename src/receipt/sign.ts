import { type Envelope, envelopeOf, preAuthEncoding } from './dsse.ts';
import { type PrivateKey, sign } from './keys.ts';
import { payloadType } from './statement.ts';

/** Returns the text of a statement in an envelope that the key signs. */
export async function signStatement(text: string, key: PrivateKey): Promise<Envelope> {
  const payload = new TextEncoder().encode(text);
  const bytes = await sign(key, preAuthEncoding(payloadType, payload));
  return envelopeOf(payloadType, payload, { keyId: key.id, bytes });
}
