import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import * as keys from '../../src/receipt/keys.ts';
import { trusted } from './table.ts';

const pkcs8 = { format: 'pem', type: 'pkcs8' } as const;
const spki = { format: 'pem', type: 'spki' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ecdsa = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');

/** Returns the code and the message of the error. */
function refused(read: (pem: unknown) => unknown, pem: unknown): [string, string] | null {
  try {
    read(pem);
    return null;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return [code, message];
  }
}

it.each([
  ['an ECDSA key', ecdsa.privateKey.export(pkcs8), /the type ec,/],
  ['an SEC1 key', ecdsa.privateKey.export({ format: 'pem', type: 'sec1' }), /label is "EC PRIVATE KEY"/],
  [
    'an encrypted key',
    ed25519.privateKey.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' }),
    /label is "ENCRYPTED PRIVATE KEY"/,
  ],
  ['a public key', trusted.publicPem, /it is a public key/],
  ['a key that is cut off', trusted.privatePem.replace(/.{8}\n-----END/, '\n-----END'), /not an Ed25519 key/],
  ['no text', undefined, /not PEM/],
])('%s is refused as a private key', (_name, pem, reason) => {
  expect(refused(keys.readPrivateKey, pem)).toEqual(['bad_key', expect.stringMatching(reason)]);
});

it.each([
  ['an RSA key', rsa.publicKey.export(spki), /the type rsa/],
  ['an X25519 key', generateKeyPairSync('x25519').publicKey.export(spki), /the type x25519/],
  ['a private key', trusted.privatePem, /it is a private key/],
  ['a key with another byte behind it', trusted.publicPem.replace('=', 'A'), /not an Ed25519 key/],
])('%s is refused as a public key', (_name, pem, reason) => {
  expect(refused(keys.readPublicKey, pem)).toEqual(['bad_key', expect.stringMatching(reason)]);
});

it.each([
  ['\\n', '\\n'],
  ['\\r\\n', '\\r\\n'],
  ['spaces', ' '],
])('a key may have %s as line breaks, as variables of a CI system do', (_name, lineBreak) => {
  const pem = trusted.privatePem.replaceAll('\n', lineBreak);
  expect(keys.readPrivateKey(pem).id).toBe(trusted.id);
});

it('a private key is never repeated in an error', () => {
  const [line = ''] = trusted.privatePem.split('\n').slice(1);
  for (const pem of [
    line,
    trusted.privatePem.slice(0, 80),
    `-----BEGIN ${line}-----`,
    `-----BEGIN ${line}-----x-----END ${line}-----`,
  ])
    expect(JSON.stringify(refused(keys.readPrivateKey, pem))).not.toContain(line.slice(0, 30));
});
