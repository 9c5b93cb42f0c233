// Generates hostile options, as a careless caller or a malicious sender could produce them.
import fc from 'fast-check';
import { bodyOf, secretOf, text, vectors } from './vectors.ts';

/** Makes the same hostile value for each build, since reading a value may change it. */
export type Make<Value = unknown> = () => Value;

const constant = <Value>(make: Make<Value>): fc.Arbitrary<Make<Value>> => fc.constant(make);
const value = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Make<Value>> =>
  arbitrary.map((one) => () => one);

class Trap extends Error {}

function trap(): never {
  throw new Trap('a trap');
}

/** Throws on every operation. */
function trapped(target: object): unknown {
  return new Proxy(target, new Proxy({}, { get: () => trap }));
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function detached(): Uint8Array {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

/** Has another value at each read. */
function flickering(): object {
  let reads = 0;
  const next = () => {
    reads += 1;
    return `k${reads}`;
  };
  return new Proxy({}, { get: next, ownKeys: () => [next()] });
}

const oddities = fc.oneof(
  ...[
    () => trapped({}),
    () => trapped([]),
    () => trapped(() => 0),
    () => trapped(new Uint8Array(4)),
    () => trapped(new Date(0)),
    () => trapped(new Headers()),
    () => trapped(new Map()),
    () => revoked({}),
    () => revoked([]),
    () => revoked(new Uint8Array(4)),
    () => new Proxy(new Uint8Array(4), {}),
    () => new Proxy(['whsec_a'], {}),
    () => new Proxy(new Date(0), {}),
    () => new Proxy(new Headers({ 'x-service-timestamp': 'a' }), {}),
    flickering,
    detached,
    () => detached().buffer,
    () => Object.create(Uint8Array.prototype),
    () => Object.create(Date.prototype),
    () => Object.create(Headers.prototype),
    () => Object.create(Map.prototype),
    () => Object.create(Array.prototype, { length: { value: 3 } }),
    () => Object.create(null),
    () => Object.setPrototypeOf([], null),
    () => Object.setPrototypeOf(new Uint8Array(3), null),
    () => Object.defineProperty(new Uint8Array(9), 'length', { value: 2 ** 40 }),
    () => Object.defineProperty(new Uint8Array(9), 'length', { get: trap }),
    () => Object.defineProperty(new Uint8Array(9), 'buffer', { get: trap }),
    () => Object.defineProperty(new Uint8Array(9), 'join', { value: () => 'x' }),
    () => Object.defineProperty(new Date(0), 'getTime', { value: () => 0n }),
    () => new Date(Number.NaN),
    () => new Date(8.64e15),
    () => new Date(-8.64e15),
    () =>
      new (class extends Uint8Array {
        override get length() {
          return trap();
        }
      })(5),
    () => new Uint8Array(new SharedArrayBuffer(5)),
    () => new SharedArrayBuffer(5),
    () => new ArrayBuffer(5),
    () => new DataView(new ArrayBuffer(5)),
    () => new Uint16Array(3),
    () => new BigUint64Array(1),
    () => Buffer.from('{}'),
    () => Buffer.from('{}').toJSON(),
    () => new Array(3),
    () => new Array(2 ** 32 - 1),
    () => [[['nested']]],
    () => [trapped([])],
    () => ['X-Service-Signature', trapped({})],
    () => [['X-Service-Signature', trapped({})]],
    () => ({ 'x-service-signature': trapped([]), 'x-service-timestamp': revoked({}) }),
    () => ({ 'x-service-timestamp': [['nested']] }),
    () => JSON.parse('{"__proto__":{"x-service-timestamp":"a"},"constructor":"b","x-service-timestamp":"c"}'),
    () => ({ get: 'a header of this name', 'x-service-timestamp': 'a' }),
    () => ({ get: trap }),
    () => ({ get: () => 42 }),
    () => ({ get: () => ['a', 'b'] }),
    () => ({ get: () => Symbol('s') }),
    () => ({ get: () => trapped({}) }),
    () => Object.fromEntries([['then', trap]]),
    () => Object.defineProperty({}, 'x-service-timestamp', { get: trap, enumerable: true }),
    () => new Map([['X-Service-Timestamp', 'a']]),
    () => new Map<unknown, unknown>([[{}, Symbol('s')]]),
    () => new Set(['whsec_a']),
    () =>
      new (class extends Map {
        override [Symbol.iterator]() {
          return trap();
        }
      })(),
    () => new Headers(),
    () => Promise.resolve(new Uint8Array()),
    () => new ReadableStream(),
    () => new Request('http://localhost/'),
    () => Symbol('s'),
    () => 2n ** 70n,
    () => () => trap(),
    () => class {},
    () => new Error('e'),
    () => new WeakMap(),
    () => /x/g,
    () => Object('boxed'),
    () => '\ud800',
    () => '\udc00x\ud800'.repeat(900),
    () => 'é'.repeat(4100),
    () => 'x'.repeat(100_000),
    () => ' '.repeat(100_000),
    () => `x${' '.repeat(50_000)}x`,
    () => globalThis,
    () => null,
    () => undefined,
    () => 0,
    () => -0,
    () => Number.NaN,
    () => Number.POSITIVE_INFINITY,
    () => Number.MIN_VALUE,
    () => true,
    () => '',
  ].map((make) => constant(make as Make)),
);

const anything: fc.Arbitrary<Make> = fc.oneof(
  oddities,
  value(
    fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    }),
  ),
);

/** Text with a few characters removed, inserted or replaced. */
function mangled(arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat(90), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 }));
  return fc
    .tuple(arbitrary, fc.array(edit, { maxLength: 3 }))
    .map(([start, edits]) =>
      edits.reduce((all, [at, gone, put]) => all.slice(0, at) + put + all.slice(at + gone), start),
    );
}

const real = fc.constantFrom(...vectors);
const twoDigits = fc.nat(99).map((number) => String(number).padStart(2, '0'));
const timestamps = fc.oneof(
  real.map(({ timestamp }) => timestamp),
  mangled(real.map(({ timestamp }) => timestamp)),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc
    .tuple(
      fc.nat(9999).map((year) => String(year).padStart(4, '0')),
      fc.array(twoDigits, { minLength: 7, maxLength: 7 }),
      fc.constantFrom('', '.1', '.123', '.123456789'),
      fc.constantFrom('Z', 'z', '+', '-'),
    )
    .map(([year, [month, day, hour, minute, second, a, b], fraction, zone]) => {
      const end = /z/i.test(zone) ? zone : `${zone}${a}:${b}`;
      return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${end}`;
    }),
);
const signatures = fc.oneof(
  real.map(({ signature }) => signature),
  mangled(real.map(({ signature }) => signature)),
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 60, maxLength: 68 })
    .map((hex) => `sha256=${hex}`),
);

type Form = (timestamp: unknown, signature: unknown) => unknown;
const forms: readonly Form[] = [
  (timestamp, signature) => ({ 'x-service-timestamp': timestamp, 'X-Service-Signature': signature }),
  (timestamp, signature) => ({
    'x-service-timestamp': [timestamp],
    'x-service-signature': [signature, signature],
  }),
  (timestamp, signature) => [
    ['X-Service-Timestamp', timestamp],
    ['x-service-SIGNATURE', signature],
  ],
  (timestamp, signature) => ['X-Service-Timestamp', timestamp, 'X-Service-Signature', signature],
  (timestamp, signature) =>
    new Map([
      ['X-Service-Timestamp', timestamp],
      ['X-Service-Signature', signature],
    ]),
  (timestamp, signature) => ({
    get: (name: string) => (/timestamp/i.test(name) ? timestamp : signature),
    forEach: undefined,
  }),
];

const headers: fc.Arbitrary<Make> = fc
  .tuple(
    fc.constantFrom(...forms),
    fc.oneof({ weight: 5, arbitrary: value(timestamps) }, { weight: 1, arbitrary: anything }),
    fc.oneof({ weight: 5, arbitrary: value(signatures) }, { weight: 1, arbitrary: anything }),
  )
  .map(
    ([form, timestamp, signature]) =>
      () =>
        form(timestamp(), signature()),
  );

const bytes = fc.uint8Array({ maxLength: 40 });
const bodies = fc.oneof(
  value(real.map(({ body }) => bodyOf(body))),
  value(real.map(({ body }) => text(bodyOf(body)))),
  value(fc.oneof(bytes, fc.string({ unit: 'binary' }))),
);
const secret: fc.Arbitrary<unknown> = fc.oneof(
  real.map(secretOf),
  real.map((one) => text(secretOf(one))),
  bytes,
  fc.string({ unit: 'binary' }),
);
const secrets = fc.oneof(value(secret), value(fc.array(secret, { maxLength: 4 })));
const limits = fc.oneof(value(fc.constantFrom(undefined, null, 300, 0, -1, 1e9)), value(fc.double()));
const nows = fc.oneof(
  constant(() => new Date('2026-07-01T12:00:00Z')),
  value(fc.date()),
  constant(() => undefined),
);
const names = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      () => undefined,
      () => ({ timestamp: 'X-Service-Timestamp' }),
    ) as fc.Arbitrary<Make>,
  },
  {
    weight: 1,
    arbitrary: value(fc.record({ timestamp: fc.string(), signature: fc.string() }, { requiredKeys: [] })),
  },
);

/** Yields mostly plausible values. */
const mostly = (arbitrary: fc.Arbitrary<Make>) =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: anything });

type Makers = Readonly<Record<string, Make>>;

/** Makes options of the given values, some with a getter that throws, without a prototype or behind a proxy. */
const optionsOf = (makers: fc.Arbitrary<Makers>): fc.Arbitrary<Make> =>
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc
        .tuple(makers, fc.constantFrom(...Array(30).fill(null), 'throws', 'null prototype', 'proxy'))
        .map(([all, twist]) => () => {
          const entries = Object.entries(all).map(([name, make]) => [name, make()] as const);
          const options: object = Object.assign(
            twist === 'null prototype' ? Object.create(null) : {},
            Object.fromEntries(entries),
          );
          if (twist === 'throws') {
            const [name] = entries[entries.length - 1] ?? ['body'];
            Object.defineProperty(options, name, { get: trap });
          }
          return twist === 'proxy' ? new Proxy(options, {}) : options;
        }),
    },
    { weight: 1, arbitrary: anything },
  );

/** A genuine delivery, of which the test changes only a part. */
const genuine = real.map(
  ({ timestamp, signature, body, secret: hex, name }): Makers => ({
    body: () => bodyOf(body),
    headers: () => ({ 'x-service-timestamp': timestamp, 'x-service-signature': signature }),
    secrets: () => [secretOf({ name, timestamp, signature, body, secret: hex })],
    now: () => new Date('2026-07-01T12:00:00Z'),
  }),
);

const changes = fc.record(
  {
    body: mostly(bodies),
    headers: mostly(headers),
    secrets: mostly(secrets),
    tenantSecret: mostly(
      fc.oneof(
        value(secret),
        constant(() => undefined),
      ),
    ),
    headerNames: mostly(names),
    maxAge: mostly(limits),
    maxFuture: mostly(limits),
    now: mostly(nows),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Makers>;

export const verifyOptions: fc.Arbitrary<Make> = optionsOf(
  fc.oneof(
    changes,
    // A genuine delivery with one or two changes.
    fc.tuple(genuine, changes, fc.array(fc.nat(7), { maxLength: 2 })).map(([right, all, which]) => {
      const entries = Object.entries(all).filter((_entry, index) => which.includes(index));
      return { ...right, ...Object.fromEntries(entries) };
    }),
  ),
);

export const signOptions: fc.Arbitrary<Make> = optionsOf(
  fc.record(
    {
      body: mostly(bodies),
      secret: mostly(value(secret)),
      timestamp: mostly(value(timestamps)),
    },
    { requiredKeys: ['timestamp'] },
  ) as fc.Arbitrary<Makers>,
);
