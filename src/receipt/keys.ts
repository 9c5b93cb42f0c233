import { quoted, ReceiptError } from './error.ts';

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A trusted key. */
export interface PublicKey {
  /** The SHA-256 of the key in DER (SPKI), in hex: `openssl pkey -pubin -in <file> -outform DER | sha256sum`. */
  readonly id: string;
  readonly key: CryptoKey;
}

/** A key that signs receipts. */
export interface PrivateKey extends PublicKey {
  readonly publicPem: string;
}

const algorithm = { name: 'Ed25519' };

const hexBytes = (hex: string) =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** The bytes before the 32 of an Ed25519 key in DER: SPKI (RFC 8410, section 4), PKCS#8 (RFC 8410, section 7). */
const publicPrefix = hexBytes('302a300506032b6570032100');
const privatePrefix = hexBytes('302e020100300506032b657004220420');

/**
 * The second coordinates of the points of small order, reduced and not, as in libsodium's `ge25519_has_small_order` and in
 * the vectors `low_order_A` of https://github.com/C2SP/CCTV/tree/main/ed25519. Web Crypto accepts such a key, and under it
 * anyone can make a signature.
 */
const smallOrder = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map(hexBytes);

/** The keys of other kinds that people have, by the object identifier in their DER. */
const otherKinds: readonly (readonly [name: string, oid: Uint8Array])[] = [
  ['an RSA', hexBytes('2a864886f70d0101')],
  ['an ECDSA', hexBytes('2a8648ce3d0201')],
  ['an Ed448', hexBytes('06032b6571')],
  ['an X25519', hexBytes('06032b656e')],
];

const startsWith = (bytes: Uint8Array, prefix: Uint8Array) => prefix.every((byte, at) => bytes[at] === byte);

function includes(bytes: Uint8Array, part: Uint8Array): boolean {
  return bytes.some((_byte, at) => startsWith(bytes.subarray(at), part));
}

const makeKeys =
  'create a pair of keys with rungate receipt keygen <prefix>, or with openssl genpkey -algorithm ed25519';

function badKey(reason: string, hint = makeKeys): never {
  throw new ReceiptError('bad_key', reason, hint);
}

/** Returns the label and the bytes of the only block of a PEM file. */
function readPem(pem: unknown): { label: string; der: Uint8Array<ArrayBuffer> } {
  if (typeof pem !== 'string') badKey('the key is not PEM text');
  const blocks = pem.split('-----BEGIN ').slice(1);
  const [block = ''] = blocks;
  if (blocks.length > 1) badKey('the file has several keys', 'leave only one of them in it');
  const whole = 'pass the whole content of the key file, with its BEGIN and END lines';
  if (blocks.length === 0) badKey('the key is not PEM', whole);
  const label = block.slice(0, Math.max(0, block.indexOf('-----')));
  const end = block.indexOf(`-----END ${label}-----`);
  // In a variable of a CI system, a line break may have become a space or the two characters \n.
  const base64 = block.slice(label.length + 5, end).replaceAll(/\s|\\[nr]/g, '');
  const der = end < 0 ? null : fromBase64(base64);
  if (der === null) badKey('the key is not complete PEM', whole);
  return { label, der };
}

/** Refuses a key of another kind, and says which kind it is. Never repeats anything of a private key. */
function readKey(pem: unknown, wanted: string, prefix: Uint8Array): Uint8Array<ArrayBuffer> {
  const { label, der } = readPem(pem);
  if (wanted === 'PUBLIC KEY' && label.includes('PRIVATE'))
    badKey('it is a private key', 'give the public key that belongs to it, and keep the private key secret');
  if (wanted === 'PRIVATE KEY' && label === 'PUBLIC KEY')
    badKey('it is a public key', 'give the private key that belongs to it');
  if (label === 'ENCRYPTED PRIVATE KEY')
    badKey('the private key is encrypted', 'decrypt it with openssl pkey, and keep it as a secret of the CI');
  const other = otherKinds.find(([, oid]) => includes(der, oid));
  if (other !== undefined) badKey(`it is ${other[0]} key, not an Ed25519 key`);
  if (label !== wanted) badKey(`its label is ${quoted(label)}, not "${wanted}"`);
  if (der.length !== prefix.length + 32 || !startsWith(der, prefix)) badKey('it is not an Ed25519 key');
  return der;
}

async function idOf(spki: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', spki));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toPem(label: string, der: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${toBase64(der)}\n-----END ${label}-----\n`;
}

/**
 * Reads a public key: PEM, SPKI, Ed25519.
 * @throws ReceiptError with the code `bad_key`
 */
export async function readPublicKey(pem: unknown): Promise<PublicKey> {
  const spki = readKey(pem, 'PUBLIC KEY', publicPrefix);
  // Bit 255 is the sign of the first coordinate.
  const point = spki.slice(publicPrefix.length).map((byte, at) => (at === 31 ? byte & 0x7f : byte));
  if (smallOrder.some((weak) => startsWith(point, weak)))
    badKey('anyone can sign with this key: its point has a small order');
  const key = await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify']);
  return { id: await idOf(spki), key };
}

/**
 * Reads a private key: PEM, PKCS#8, Ed25519, not encrypted.
 * @throws ReceiptError with the code `bad_key`
 */
export async function readPrivateKey(pem: unknown): Promise<PrivateKey> {
  const pkcs8 = readKey(pem, 'PRIVATE KEY', privatePrefix);
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']);
  const { x = '' } = await crypto.subtle.exportKey('jwk', key);
  const raw = fromBase64(`${x}=`);
  if (raw === null) return badKey('its public key cannot be computed');
  const spki = new Uint8Array([...publicPrefix, ...raw]);
  return { id: await idOf(spki), key, publicPem: toPem('PUBLIC KEY', spki) };
}

/** Returns a new pair of keys as PEM: PKCS#8 and SPKI. */
export async function createKeys(): Promise<{ privatePem: string; publicPem: string; id: string }> {
  const { privateKey } = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as {
    privateKey: CryptoKey;
  };
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey));
  const privatePem = toPem('PRIVATE KEY', pkcs8);
  const { publicPem, id } = await readPrivateKey(privatePem);
  return { privatePem, publicPem, id };
}

/** Signs a message. */
export async function sign({ key }: PrivateKey, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign(algorithm, key, message));
}

/** Returns the first key that signed the message, or null. */
export async function signerOf(
  keys: readonly PublicKey[],
  message: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
): Promise<PublicKey | null> {
  for (const key of keys) {
    for (const signature of signatures) {
      if (signature.length !== 64) continue;
      if (await crypto.subtle.verify(algorithm, key.key, signature, message)) return key;
    }
  }
  return null;
}

const alphabets = [/^[A-Za-z0-9+/]*={0,2}$/, /^[A-Za-z0-9_-]*={0,2}$/];

/**
 * Decodes base64 in its standard or its URL-safe alphabet, both of which DSSE allows. Returns null for any other text, also
 * for one that a lax decoder would accept: without padding, or with bits that encode nothing.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 4 !== 0 || !alphabets.some((alphabet) => alphabet.test(text))) return null;
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
  return toBase64(bytes) === standard ? bytes : null;
}

/** Encodes bytes in standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // As arguments of one call, the bytes of a large receipt would exceed the stack.
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
