// Receipts verified by software that is not ours, and receipts that it makes verified by ours.
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { type Bundle, bundleFromJSON, envelopeFromJSON } from '@sigstore/bundle';
import { dsse } from '@sigstore/core';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { describe, expect, it } from 'vitest';
import { type Envelope, preAuthEncoding, signStatement } from '../../src/receipt/dsse.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { readPrivateKey } from '../../src/receipt/keys.ts';
import { payloadType, type ResourceDescriptor } from '../../src/receipt/statement.ts';
import { gateReceipt } from './gate-receipt.ts';
import { isMissing, run } from './python.ts';
import { commit, statement, trusted } from './table.ts';

const text = JSON.stringify({ ...statement, 'a name': 'Žluťoučký 🐎 "quoted"' });
const ours = await signStatement(text, await readPrivateKey(trusted.privatePem));
const forged = { ...ours, payload: Buffer.from(text.replaceAll('PASSED', 'FAILED')).toString('base64') };
const retyped = { ...ours, payloadType: 'application/json' };

const accepted = (envelope: unknown, keys: string) =>
  verifyReceipt({ receipt: JSON.stringify(envelope), keys, commit, now: new Date('2026-11-22T13:00:00Z') });

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

describe.skipIf(isMissing)('securesystemslib, the library of in-toto', () => {
  const verified = (envelope: Envelope) => run({ action: 'verify', envelope });

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

/** The fields that in-toto's specification names: Statement v1, test-result v0.1 and ResourceDescriptor, and those that it requires. */
const specified = {
  statement: { required: ['_type', 'subject', 'predicateType'], optional: ['predicate'] },
  predicate: {
    required: ['result', 'configuration'],
    optional: ['url', 'passedTests', 'warnedTests', 'failedTests'],
  },
  descriptor: {
    required: [],
    optional: ['name', 'uri', 'digest', 'content', 'downloadLocation', 'mediaType', 'annotations'],
  },
};

// Strict parsers, such as those of cosign and sigstore-go, refuse other fields of a statement.
describe("in-toto's specification", () => {
  const expectFields = (
    object: object,
    { required, optional }: { required: string[]; optional: string[] },
  ) => {
    const names = Object.keys(object);
    expect([...required, ...optional]).toEqual(expect.arrayContaining(names));
    expect(names).toEqual(expect.arrayContaining(required));
  };

  it('names every field of the statement of a gate, which has each one that it requires', async () => {
    const { statement } = await gateReceipt();
    const { subject, predicate } = statement;
    expectFields(statement, specified.statement);
    expectFields(predicate, specified.predicate);
    const descriptors: ResourceDescriptor[] = [...subject, ...predicate.configuration];
    expect(descriptors).toHaveLength(6);
    for (const descriptor of descriptors) {
      expectFields(descriptor, specified.descriptor);
      expect(descriptor.uri ?? descriptor.digest ?? descriptor.content).toBeTruthy();
    }
    for (const { digest } of subject)
      for (const [algorithm, hex] of Object.entries(digest)) {
        expect(['sha256', 'gitCommit']).toContain(algorithm);
        expect(hex).toMatch(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
      }
    // A name tells subjects and configurations apart.
    for (const list of [subject, predicate.configuration])
      expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
  });
});
