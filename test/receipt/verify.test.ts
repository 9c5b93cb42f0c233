import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { preAuthEncoding } from '../../src/receipt/dsse.ts';
import { checkNames } from '../../src/receipt/error.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { payloadType } from '../../src/receipt/statement.ts';
import {
  changed,
  commit,
  finishedAt,
  outcomeOf,
  preview,
  problemOf,
  sealed,
  statement,
  table,
  trusted,
} from './table.ts';

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

  it('compares with the current time by default', async () => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
    const keys = trusted.publicPem;
    const ageNow = () => Date.now() - Date.parse(finishedAt);
    const before = ageNow();
    const { ageMs } = await verifyReceipt({ receipt, keys, commit });
    expect(ageMs).toBeGreaterThanOrEqual(before);
    expect(ageMs).toBeLessThanOrEqual(ageNow());
  });

  it.each([null, undefined, 'text', 7])('throws its own error for %j in place of options', async (given) => {
    expect((await outcomeOf(verifyReceipt, given)).outcome).toBe('bad_option');
  });

  it('repeats no part of a base URL that it refuses, which may have a secret', async () => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
    const baseUrl = 'https://someone:password@pr-7.example.com/?token=secret';
    const error = await verifyReceipt({ receipt, keys: trusted.publicPem, commit, baseUrl }).catch(String);
    expect(error).not.toMatch(/someone|password|pr-7|secret/);
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

describe('a property of a polluted Object.prototype is neither an option nor a fact', () => {
  const warned = changed(({ root, run }) => {
    Object.assign((root as typeof statement).predicate, { result: 'WARNED' });
    Object.assign(run, { result: 'WARNED' });
  });
  const unnamed = changed(({ root }) => {
    Object.assign(root, { subject: [{ digest: { gitCommit: commit } }] });
  });
  const placeless = changed(({ root }) => {
    const { configuration } = (root as typeof statement).predicate;
    Object.assign(configuration[1], { name: 'other', annotations: {} });
  });
  const without = changed(({ root }) => {
    const { predicate } = root as { predicate: { configuration: object[] } };
    predicate.configuration.splice(1, 1);
  });
  const baseUrl = 'https://pr-7.example.com';
  const annotations = { key: 'staging', baseUrl };
  it.each([
    ['key', 'staging', placeless, { environment: 'staging' }, 'environment'],
    ['annotations', annotations, without, { environment: 'staging' }, 'environment'],
    ['annotations', annotations, without, { baseUrl }, 'base_url'],
    ['baseUrl', baseUrl, statement, { baseUrl }, 'base_url'],
    ['baseUrl', 'other', preview(baseUrl), {}, null],
    ['name', 'environment', preview(baseUrl), { baseUrl }, null],
    ['deployed', { matches: true }, statement, { requireDeployed: true }, 'deployed'],
    ['requireDeployed', true, statement, {}, null],
    ['subjects', ['sha256:'], statement, {}, null],
    ['allowWarned', true, warned, {}, 'result'],
    ['name', 'acme/shop', unnamed, { repository: 'acme/shop' }, 'repository'],
    ['maxAgeMs', 1, statement, {}, null],
    ['tags', ['other'], statement, {}, null],
    ['result', 'none', warned, {}, 'result'],
    ['age', 'none', statement, { maxAgeMs: 1 }, 'age'],
  ])('%s', async (name, value, content, options, code) => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(content)));
    const now = new Date(Date.parse(finishedAt) + 5000);
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
    try {
      const verified = verifyReceipt({ receipt, keys: trusted.publicPem, commit, now, ...options });
      expect(
        await verified.then(
          () => null,
          ({ code }) => code,
        ),
      ).toBe(code);
    } finally {
      Reflect.deleteProperty(Object.prototype, name);
    }
  });
});

it.each([
  ['of an object', { project: 'other' }],
  [
    'of a class',
    {
      get project() {
        return 'other';
      },
    },
  ],
])('refuses options that inherit those %s', async (_what, parent: object) => {
  const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
  const options = { receipt, keys: trusted.publicPem, commit, now: new Date(Date.parse(finishedAt)) };
  const inherited = Object.assign(Object.create(parent), options);
  await expect(verifyReceipt(inherited)).rejects.toMatchObject({ code: 'bad_option' });
  expect(await verifyReceipt(Object.assign(Object.create(null), options))).toMatchObject({
    result: 'PASSED',
  });
});

describe('a forged receipt that node:crypto accepts under a key of small order is refused', () => {
  // The points whose order divides 8, by the second coordinate; the sign of the first is bit 255. As in the vectors
  // `low_order_A` of https://github.com/C2SP/CCTV/tree/main/ed25519.
  const reduced = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ];
  const unreduced = [
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ];
  const withSigns = (points: readonly string[]) =>
    points.flatMap((point) =>
      [0, 0x80].map((sign) => {
        const bytes = Buffer.from(point, 'hex');
        bytes[31] = (bytes[31] ?? 0) | sign;
        return bytes;
      }),
    );
  /** With S = 0, one of the points is right as R for about one statement in eight, at worst. */
  const attempts = Array.from({ length: 20 }, (_, attempt) => {
    const payload = new TextEncoder().encode(JSON.stringify({ ...statement, attempt }));
    return withSigns(reduced).map((r) => ({ payload, signature: Buffer.concat([r, Buffer.alloc(32)]) }));
  }).flat();

  it.each(withSigns([...reduced, ...unreduced]).map((point) => [point.toString('hex'), point] as const))(
    '%s',
    async (_, point) => {
      const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), point]);
      const keys = createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({
        format: 'pem',
        type: 'spki',
      });
      // OpenSSL 3.5, from Node 24 on, refuses such keys itself.
      const refusedByNode = Number(process.versions.node.split('.')[0]) >= 24 ? attempts[0] : undefined;
      const found = attempts.find(({ payload, signature }) =>
        verify(null, preAuthEncoding(payloadType, payload), String(keys), signature),
      );
      const forged = found ?? refusedByNode;
      if (forged === undefined) throw new Error('no guess was right');
      const receipt = JSON.stringify({
        payload: Buffer.from(forged.payload).toString('base64'),
        payloadType,
        signatures: [{ sig: forged.signature.toString('base64') }],
      });
      await expect(verifyReceipt({ receipt, keys: String(keys), commit })).rejects.toMatchObject({
        code: 'bad_key',
        message: expect.stringContaining('anyone can sign'),
      });
    },
  );
});
