import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import * as keys from '../../src/receipt/keys.ts';
import { second, trusted } from './table.ts';

const message = new TextEncoder().encode('a message');

describe('a new pair of keys', () => {
  it('is read by node:crypto, and each signs what the other verifies', async () => {
    const { privatePem, publicPem } = await keys.createKeys();
    const [privateKey, publicKey] = [createPrivateKey(privatePem), createPublicKey(publicPem)];
    expect(privateKey.asymmetricKeyType).toBe('ed25519');
    expect(createPublicKey(privateKey).export({ format: 'pem', type: 'spki' })).toBe(publicPem);
    const signature = await keys.sign(await keys.readPrivateKey(privatePem), message);
    expect(verify(null, message, publicKey, signature)).toBe(true);
    const theirs = new Uint8Array(sign(null, message, privateKey));
    const trustedKey = await keys.readPublicKey(publicPem);
    expect(await keys.signerOf([trustedKey], message, [theirs])).toBe(trustedKey);
  });

  it('is different each time', async () => {
    const [one, other] = await Promise.all([keys.createKeys(), keys.createKeys()]);
    expect(one.privatePem).not.toBe(other.privatePem);
  });
});

test('the id of a key is the SHA-256 of its DER, as openssl and sha256sum compute it', async () => {
  for (const { privatePem, publicPem, id } of [trusted, second]) {
    expect((await keys.readPublicKey(publicPem)).id).toBe(id);
    expect(await keys.readPrivateKey(privatePem)).toMatchObject({ id, publicPem });
  }
});

describe('a private key', () => {
  const pkcs8 = { format: 'pem', type: 'pkcs8' } as const;
  const refused = (pem: unknown) =>
    keys.readPrivateKey(pem).then(String, (error) => [error.code, error.message]);

  it.each([
    [
      'an RSA key',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pkcs8),
      /an RSA key/,
    ],
    [
      'an ECDSA key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pkcs8),
      /an ECDSA key/,
    ],
    [
      'an SEC1 key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'sec1' }),
      /label is "EC PRIVATE KEY"/,
    ],
    [
      'an encrypted key',
      generateKeyPairSync('ed25519').privateKey.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' }),
      /encrypted/,
    ],
    ['a public key', trusted.publicPem, /public key/],
    [
      'an OpenSSH key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbg==\n-----END OPENSSH PRIVATE KEY-----\n',
      /OPENSSH/,
    ],
    ['no text', undefined, /not PEM/],
  ])('is refused if it is %s', async (_name, pem, reason) => {
    expect(await refused(pem)).toEqual(['bad_key', expect.stringMatching(reason)]);
  });

  it.each([
    ['\\n', '\\n'],
    ['\\r\\n', '\\r\\n'],
    ['spaces', ' '],
    ['CRLF', '\r\n'],
  ])('may have %s as line breaks, as variables of a CI system do', async (_name, lineBreak) => {
    const pem = trusted.privatePem.replaceAll('\n', lineBreak);
    expect((await keys.readPrivateKey(pem)).publicPem).toBe(trusted.publicPem);
  });

  it('is never repeated in the error', async () => {
    const [line = ''] = trusted.privatePem.split('\n').slice(1);
    for (const pem of [line, trusted.privatePem.slice(0, 80), `-----BEGIN ${line}-----`])
      expect(JSON.stringify(await refused(pem))).not.toContain(line.slice(0, 30));
  });
});
