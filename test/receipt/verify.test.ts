import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { checkNames, type ReceiptError } from '../../src/receipt/error.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { refuseDuplicates } from '../../src/receipt/json.ts';
import { commit, finishedAt, outcomeOf, problemOf, sealed, statement, table, trusted } from './table.ts';

const rows = table.flatMap(({ title, rows }) => rows.map((row) => ({ ...row, title })));

describe('verifyReceipt', () => {
  test.each(rows)('$title: $name', async (row) => {
    expect(await problemOf(verifyReceipt, row)).toBeNull();
  });

  it('has a row for every code', () => {
    const codes = new Set(rows.map(({ expected }) => expected));
    for (const code of [...checkNames, 'bad_key', 'bad_option'] as const) expect(codes).toContain(code);
  });

  it('returns the statement, the age and the id of the key that signed', async () => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
    const now = new Date(Date.parse(finishedAt) + 5000);
    expect(await verifyReceipt({ receipt, keys: trusted.publicPem, commit, now })).toEqual({
      result: 'PASSED',
      keyId: trusted.id,
      ageMs: 5000,
      statement,
    });
  });

  it('returns the age since a leap second', async () => {
    const [{ annotations }] = statement.predicate.configuration;
    const rungate = { ...annotations.rungate, finishedAt: '2026-11-22T11:59:60Z' };
    const configuration = [{ name: 'rungate', uri: 'https://example.com', annotations: { rungate } }];
    const changed = { ...statement, predicate: { ...statement.predicate, configuration } };
    const receipt = JSON.stringify(await sealed(JSON.stringify(changed)));
    const now = new Date(Date.parse(finishedAt) + 5000);
    expect((await verifyReceipt({ receipt, keys: trusted.publicPem, commit, now })).ageMs).toBe(5000);
  });

  it('compares with the current time by default', async () => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
    const keys = trusted.publicPem;
    const ageNow = () => Date.now() - Date.parse(finishedAt);
    const before = ageNow();
    const { ageMs } = await verifyReceipt({ receipt, keys, commit });
    expect(ageMs).toBeGreaterThanOrEqual(before);
    expect(ageMs).toBeLessThanOrEqual(ageNow());
  });

  it('reads the bytes once: a buffer that changes during the checks makes no difference', async () => {
    const receipt = new TextEncoder().encode(JSON.stringify(await sealed(JSON.stringify(statement))));
    const verified = verifyReceipt({ receipt, keys: trusted.publicPem, commit });
    receipt.fill(0);
    expect((await verified).result).toBe('PASSED');
  });

  it('explains the remedy in a hint', async () => {
    const error = await verifyReceipt({ receipt: '{}', keys: trusted.publicPem, commit: 'HEAD' }).catch(
      (caught: ReceiptError) => caught,
    );
    expect(error).toMatchObject({ code: 'bad_option', hint: expect.stringContaining('git rev-parse HEAD') });
  });

  it.each([null, undefined, 'text', 7])('throws its own error for %j in place of options', async (given) => {
    expect((await outcomeOf(verifyReceipt, given)).outcome).toBe('bad_option');
  });

  it('throws its own error if an option cannot be read', async () => {
    const hostile = {
      get receipt(): string {
        throw new RangeError('no');
      },
    };
    expect((await outcomeOf(verifyReceipt, hostile)).outcome).toBe('bad_option');
  });
});

describe('a key of another kind is refused with its kind', () => {
  const spki = { format: 'pem', type: 'spki' } as const;
  it.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export(spki)],
    ['RSA', generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey.export(spki)],
    ['ECDSA', generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export(spki)],
    ['Ed448', generateKeyPairSync('ed448').publicKey.export(spki)],
    ['X25519', generateKeyPairSync('x25519').publicKey.export(spki)],
  ])('%s', async (kind, keys) => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
    await expect(verifyReceipt({ receipt, keys: String(keys), commit })).rejects.toMatchObject({
      code: 'bad_key',
      message: expect.stringMatching(new RegExp(`^it is an? ${kind} key, not an Ed25519 key$`)),
    });
  });
});

describe('duplicate keys', () => {
  /** Returns JSON text with white space, escapes and duplicate keys, and whether it has a duplicate. */
  const key = fc.constantFrom('a', 'b', '', '__proto__', '"', '\\', 'é');
  const spelled = fc.tuple(key, fc.boolean()).map(([name, escaped]) => ({
    name,
    text: escaped
      ? `"${Array.from(name, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(name),
  }));
  const { json } = fc.letrec<{ json: { text: string; repeats: boolean } }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc
        .constantFrom('1', 'null', '"{\\"a\\":1,\\"a\\":1}"', '" , "', '{}', '[ ]')
        .map((text) => ({ text, repeats: false })),
      fc.array(tie('json'), { maxLength: 4 }).map((items) => ({
        text: `[ ${items.map(({ text }) => text).join(' , ')}\n]`,
        repeats: items.some(({ repeats }) => repeats),
      })),
      fc.array(fc.tuple(spelled, tie('json')), { maxLength: 4 }).map((members) => ({
        text: `{\t${members.map(([name, { text }]) => `${name.text} : ${text}`).join(' ,')} }`,
        repeats:
          members.some(([, { repeats }]) => repeats) ||
          new Set(members.map(([{ name }]) => name)).size < members.length,
      })),
    ),
  }));

  it('are found at any depth and in any spelling, and nothing else is', () => {
    fc.assert(
      fc.property(json, ({ text, repeats }) => {
        JSON.parse(text);
        const find = () => refuseDuplicates(text, 'it');
        if (repeats) expect(find).toThrow(/twice/);
        else expect(find).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});
