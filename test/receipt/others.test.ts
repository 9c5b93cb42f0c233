// Receipts verified by software that is not ours, and receipts that it makes verified by ours.
import { spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type Bundle, bundleFromJSON, envelopeFromJSON } from '@sigstore/bundle';
import { dsse } from '@sigstore/core';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { describe, expect, it } from 'vitest';
import { type Envelope, preAuthEncoding, signStatement } from '../../src/receipt/dsse.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { readPrivateKey } from '../../src/receipt/keys.ts';
import { payloadType } from '../../src/receipt/statement.ts';
import { commit, statement, trusted } from './table.ts';

const text = JSON.stringify({ ...statement, 'a name': 'Žluťoučký 🐎 "quoted"' });
const ours = await signStatement(text, await readPrivateKey(trusted.privatePem));
const forged = { ...ours, payload: Buffer.from(text.replaceAll('PASSED', 'FAILED')).toString('base64') };
const retyped = { ...ours, payloadType: 'application/json' };

const accepted = (envelope: unknown, keys: string) =>
  verifyReceipt({ receipt: JSON.stringify(envelope), keys, commit, now: new Date('2026-11-22T13:00:00Z') });

/** The last 32 bytes of an Ed25519 key in DER. */
const rawPublic = (pem: string) =>
  createPublicKey(pem).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');

describe('@sigstore/verify', () => {
  /** A bundle with a key instead of a certificate, and without a transparency log. */
  const bundleOf = (envelope: Envelope): Bundle =>
    bundleFromJSON({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: trusted.id } },
      dsseEnvelope: envelope,
    });
  const verifier = new Verifier(
    toTrustMaterial(
      { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] } as never,
      {
        [trusted.id]: {
          rawBytes: createPublicKey(trusted.publicPem).export({ format: 'der', type: 'spki' }),
        } as never,
      },
    ),
    { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 },
  );

  it('verifies a receipt, and reads the statement in it', () => {
    verifier.verify(toSignedEntity(bundleOf(ours)));
    expect(JSON.parse(envelopeFromJSON(ours).payload.toString())).toEqual(JSON.parse(text));
  });

  it.each([
    ['another payload', forged],
    ['another payload type', retyped],
  ])('refuses %s, as we do', async (_name, envelope) => {
    expect(() => verifier.verify(toSignedEntity(bundleOf(envelope)))).toThrow(/signature/);
    await expect(accepted(envelope, trusted.publicPem)).rejects.toMatchObject({ code: 'signature' });
  });

  it('encodes the signed bytes as we do, also beyond ASCII', () => {
    for (const [type, payload] of [
      [payloadType, text],
      ['', ''],
      ['a type é 🐎', 'DSSEv1 1 a 1 b'],
    ] as const) {
      const bytes = Buffer.from(payload);
      // @sigstore/core counts characters of the type; the specification counts bytes.
      if (/^[\x20-\x7e]*$/.test(type))
        expect(Buffer.from(preAuthEncoding(type, bytes))).toEqual(dsse.preAuthEncoding(type, bytes));
      const length = Buffer.byteLength(type);
      const expected = Buffer.concat([Buffer.from(`DSSEv1 ${length} ${type} ${bytes.length} `), bytes]);
      expect(Buffer.from(preAuthEncoding(type, bytes))).toEqual(expected);
    }
  });
});

it('the signed bytes are those of the example in the DSSE specification', () => {
  const bytes = preAuthEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
  expect(Buffer.from(bytes).toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
});

describe('OpenSSL, through node:crypto', () => {
  it('verifies a receipt', () => {
    const message = dsse.preAuthEncoding(ours.payloadType, Buffer.from(ours.payload, 'base64'));
    const signature = Buffer.from(ours.signatures[0]?.sig ?? '', 'base64');
    expect(verify(null, message, createPublicKey(trusted.publicPem), signature)).toBe(true);
    // Ed25519 is deterministic: the same key gives the same signature.
    expect(sign(null, message, createPrivateKey(trusted.privatePem)).equals(signature)).toBe(true);
  });

  it('makes a receipt that we verify', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const payload = Buffer.from(text);
    const sig = sign(null, dsse.preAuthEncoding(payloadType, payload), privateKey).toString('base64');
    const envelope = { payload: payload.toString('base64'), payloadType, signatures: [{ sig }] };
    const keys = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect((await accepted(envelope, keys)).result).toBe('PASSED');
  });
});

const python = '/usr/bin/python3';
const script = fileURLToPath(new URL('verify_receipt.py', import.meta.url));
/** `.ci/run` requires Debian's packages in-toto and python3-securesystemslib. Elsewhere, the tests are skipped without them. */
const isMissing =
  !process.env.REQUIRE_TOOLS && spawnSync(python, ['-c', 'import in_toto, securesystemslib']).status !== 0;

/** Runs the Python program. */
function run(input: unknown) {
  const { stdout, stderr, status } = spawnSync(python, [script], {
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe.skipIf(isMissing)('securesystemslib, the library of in-toto', () => {
  const verified = (envelope: Envelope) =>
    run({ action: 'verify', envelope, keyid: trusted.id, public: rawPublic(trusted.publicPem) });

  it('verifies a receipt, and reads the statement in it', () => {
    expect(verified(ours)).toEqual({ verified: [true], statement: JSON.parse(text) });
  });

  it('refuses another payload and another payload type, as we do', () => {
    for (const envelope of [forged, retyped])
      expect(verified(envelope).verified).toEqual([expect.stringMatching(/Error$/)]);
  });

  it('makes a receipt that we verify', async () => {
    const { envelope, public: raw } = run({ action: 'sign', payload: text, payloadType });
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(raw, 'hex')]);
    const keys = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({
      format: 'pem',
      type: 'spki',
    });
    expect((await accepted(envelope, keys.toString())).result).toBe('PASSED');
    await expect(accepted(envelope, trusted.publicPem)).rejects.toMatchObject({ code: 'signature' });
  });
});
