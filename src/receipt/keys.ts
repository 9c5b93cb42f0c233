import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify,
} from 'node:crypto';
import { ReceiptError } from './error.ts';

/** An Ed25519 key. */
export interface Key {
  /** The SHA-256 of the public key in DER (SPKI), in hex: `openssl pkey -pubin -in <file> -outform DER | sha256sum`. */
  readonly id: string;
  readonly key: KeyObject;
}

/**
 * The second coordinates of the points of small order, reduced and not, as in libsodium's `ge25519_has_small_order` and in
 * the vectors `low_order_A` of https://github.com/C2SP/CCTV/tree/main/ed25519. Node accepts such a key, and under it anyone can
 * make a signature.
 */
const smallOrder: readonly string[] = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
];

const makeKeys =
  'create a key pair with rungate receipt keygen <prefix>, or with openssl genpkey -algorithm ed25519';
const wholeFile = 'pass the whole content of the key file, with its BEGIN and END lines';

function badKey(reason: string, hint = makeKeys): never {
  throw new ReceiptError('bad_key', reason, hint);
}

/** Returns the DER of the only block of a PEM text. Never repeats anything of a private key. */
function derOf(pem: unknown, wanted: 'PUBLIC KEY' | 'PRIVATE KEY'): Buffer {
  if (typeof pem !== 'string') badKey('the key is not PEM text');
  if (pem.split('-----BEGIN ').length > 2)
    badKey('the file has several keys', 'leave only one of them in it');
  const [, label, base64 = ''] = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/.exec(pem) ?? [];
  if (label === undefined) badKey('the key is not PEM', wholeFile);
  if (wanted === 'PUBLIC KEY' && label.includes('PRIVATE'))
    badKey('it is a private key', 'give the public key that belongs to it, and keep the private key secret');
  if (wanted === 'PRIVATE KEY' && label === 'PUBLIC KEY')
    badKey('it is a public key', 'give the private key that belongs to it');
  if (label !== wanted) badKey(`its label is "${label}", not "${wanted}"`);
  // In a variable of a CI system, a line break may have become a space or the two characters \n.
  const der = fromBase64(base64.replaceAll(/\s|\\[nr]/g, ''));
  return der ?? badKey('the key is not complete PEM', wholeFile);
}

function ed25519Of(read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    return badKey('it is not an Ed25519 key');
  }
  const { asymmetricKeyType: type } = key;
  return type === 'ed25519' ? key : badKey(`it is a key of the type ${type}, not an Ed25519 key`);
}

const spkiOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });
const idOf = (publicKey: KeyObject) => createHash('sha256').update(spkiOf(publicKey)).digest('hex');

/** Reads a public key: PEM, SPKI, Ed25519. @throws ReceiptError with the code `bad_key` */
export function readPublicKey(pem: unknown): Key {
  const der = derOf(pem, 'PUBLIC KEY');
  const key = ed25519Of(() => createPublicKey({ key: der, format: 'der', type: 'spki' }));
  // OpenSSL ignores bytes after the key.
  if (!spkiOf(key).equals(der)) badKey('it is not an Ed25519 key');
  const point = Uint8Array.from(der.subarray(-32));
  // Bit 255 is the sign of the first coordinate.
  point[31] = (point[31] ?? 0) & 0x7f;
  if (smallOrder.includes(Buffer.from(point).toString('hex')))
    badKey('anyone can sign with this key: its point has a small order');
  return { id: idOf(key), key };
}

/** Reads a private key: PEM, PKCS#8, Ed25519, not encrypted. @throws ReceiptError with the code `bad_key` */
export function readPrivateKey(pem: unknown): Key {
  const der = derOf(pem, 'PRIVATE KEY');
  const key = ed25519Of(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  return { id: idOf(createPublicKey(key)), key };
}

/** Returns a new pair of keys as PEM: PKCS#8 and SPKI. */
export function createKeys(): { privatePem: string; publicPem: string; id: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privatePem: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    publicPem: String(publicKey.export({ format: 'pem', type: 'spki' })),
    id: idOf(publicKey),
  };
}

/** Signs a message with a private key. */
export const sign = ({ key }: Key, message: Uint8Array): Buffer => signBytes(null, message, key);

/** Returns the first public key that signed the message, or null. */
export function signerOf(
  keys: readonly Key[],
  message: Uint8Array,
  signatures: readonly Uint8Array[],
): Key | null {
  const isSigner = ({ key }: Key) => signatures.some((signature) => verify(null, message, key, signature));
  return keys.find(isSigner) ?? null;
}

/**
 * Decodes base64 in its standard or its URL-safe alphabet, both of which DSSE allows. Returns null for any other text, also
 * for one that Node accepts: without padding, or with bits that encode nothing.
 */
export function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text.replaceAll('-', '+').replaceAll('_', '/') ? bytes : null;
}
