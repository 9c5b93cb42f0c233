import { afterEach, describe, expect, it, test } from 'vitest';
import {
  createClient,
  exitCodeOf,
  type GateOptions,
  type GatesOptions,
  gate,
  gates,
  type Mock,
  type MockOptions,
  RungateError,
  startMock,
  startRun,
  UsageError,
} from '../../src/index.ts';
import type { PreparedRequest } from '../../src/transport/transport.ts';
import { fakeClock } from '../fake-clock.ts';

const secret = 'key_live_0123456789abcdef';
const trigger = { projectSlug: 'shop', processSlug: 'checkout' };

const sent: PreparedRequest[] = [];
const transport = {
  async send(request: PreparedRequest) {
    sent.push(request);
    const text = request.method === 'POST' ? '{"runId":"r"}' : '{"state":"completed","failed":0,"blocked":0}';
    return { status: 200, headers: { 'idempotency-replayed': 'false' }, text };
  },
  close: async () => {},
};
const mocks: Mock[] = [];
afterEach(async () => {
  sent.length = 0;
  for (const mock of mocks.splice(0)) await mock.close();
});

const service = () => ({
  apiUrl: 'https://service.example.com',
  apiKey: secret,
  transport,
  clock: fakeClock(),
  random: () => 0.5,
});

/** Values of all types. Each kind of option accepts some of them. */
const values: Readonly<Record<string, unknown>> = {
  null: null,
  flag: true,
  zero: 0,
  fraction: 1.5,
  negative: -1,
  nan: Number.NaN,
  bigint: 5n,
  text: 'key_live_misplaced',
  empty: '',
  symbol: Symbol('s'),
  function: () => 'pass',
  object: { a: 1 },
  list: [1],
  none: [],
  date: new Date(0),
  map: new Map([['a', 1]]),
  bare: Object.create(null),
  textual: { toString: () => 'fail' },
};

/** The values that are not wrong for an option of the kind. */
const kinds = {
  flag: ['flag'],
  text: ['text', 'empty'],
  /** A number above 0. */
  ms: ['fraction'],
  /** A number of 0 or more. */
  duration: ['zero', 'fraction'],
  whole: [],
  wholeOrZero: ['zero'],
  function: ['function'],
  object: [],
  list: ['none'],
  nullable: ['null'],
  /** An object without required fields. */
  fields: ['bare'],
  gates: [],
} as const;
type Kind = keyof typeof kinds;

type Kinds = Readonly<Record<string, Kind>>;

const kindsOf = (names: Partial<Record<Kind, string>>): Kinds =>
  Object.fromEntries(
    Object.entries(names).flatMap(([kind, list]) => list.split(' ').map((name) => [name, kind as Kind])),
  );
/** The options of all gates that could make one laxer. */
const shared = kindsOf({
  flag: 'strict',
  fields: 'on',
  whole: 'maxAttempts',
  wholeOrZero: 'retries',
  ms: 'timeoutMs',
  object: 'preview',
});

type Call = (options: Record<string, unknown>) => unknown;

/** Each function with options of each kind and those that could make a gate laxer, and the beginning of their names in messages. */
const functions: Readonly<Record<string, [Kinds, Call, within?: string]>> = {
  createClient: [
    kindsOf({
      text: 'apiUrl',
      object: 'clock',
      flag: 'insecureHttp',
      ms: 'requestTimeoutMs',
      function: 'onExchange',
      fields: 'headers',
    }),
    async (options) => {
      const open = createClient({ ...service(), ...options });
      await open.run.status('r');
    },
  ],
  gate: [
    { ...shared, ...kindsOf({ object: 'trigger runIds deployed signal', list: 'subjects' }) },
    (options) => gate({ ...service(), trigger, ...options }),
  ],
  gates: [
    { ...shared, ...kindsOf({ gates: 'gates', flag: 'failFast' }) },
    (options) => gates({ ...service(), gates: { api: { trigger } }, ...options }),
  ],
  'a gate of gates': [
    { ...shared, ...kindsOf({ object: 'trigger', list: 'needs', flag: 'advisory' }) },
    (options) => gates({ ...service(), gates: { api: { trigger, ...options } } } as GatesOptions),
  ],
  startRun: [
    kindsOf({ object: 'trigger', text: 'idempotencyKey', ms: 'timeoutMs', fields: 'env' }),
    (options) => startRun({ ...service(), trigger, ...options }),
  ],
  'the deployed build of a gate': [
    kindsOf({ text: 'is', object: 'pointer', ms: 'timeoutMs', fields: 'headers' }),
    (options) =>
      gate({ ...service(), trigger, deployed: { url: 'http://127.0.0.1:1', is: '1', ...options } }),
    'deployed.',
  ],
  'the preview deployment of a gate': [
    kindsOf({ text: 'baseUrl', flag: 'copyVariables', ms: 'readyTimeoutMs' }),
    (options) => gate({ ...service(), trigger, preview: { baseUrl: 'http://127.0.0.1:1', ...options } }),
    'preview.',
  ],
  'the policy of a gate': [
    { failed: 'object', cancelled: 'object', timeout: 'object' },
    (options) => gate({ ...service(), trigger, on: options }),
    'on.',
  ],
  'the run of a gate': [
    { projectSlug: 'text', processSlug: 'text', tags: 'nullable' },
    (options) => gate({ ...service(), trigger: { ...trigger, ...options } as never }),
    'trigger.',
  ],
  startMock: [
    kindsOf({
      wholeOrZero: 'port',
      text: 'deployed',
      list: 'faults',
      object: 'outcome',
      duration: 'duration',
      fields: 'counts',
      flag: 'page',
    }),
    async (options) => mocks.push(await startMock({ deployed: 'v1', ...options } as MockOptions)),
  ],
  'a receipt': [
    kindsOf({ text: 'key commit' }),
    async (options) => {
      const result = await gate({ ...service(), runIds: ['r'] });
      sent.length = 0;
      return result.receipt(options);
    },
  ],
};

const refusal = async (act: () => unknown): Promise<unknown> => {
  try {
    await act();
    return 'accepted';
  } catch (error) {
    return error;
  }
};

describe.each(Object.entries(functions))('%s', (_what, [options, act, within = '']) => {
  test.each(Object.entries(options))('refuses every wrong value of %s', async (name, kind) => {
    for (const [which, value] of Object.entries(values)) {
      if ((kinds[kind] as readonly string[]).includes(which)) continue;
      const error = await refusal(() => act({ [name]: value }));
      expect(error, which).toBeInstanceOf(RungateError);
      const { message, hint, stack } = error as RungateError;
      expect(message, which).toContain(name === 'gates' ? 'gate' : name);
      expect(message, which).toContain(within.replace('.', ''));
      expect(`${message} ${hint} ${stack?.split('\n')[0]}`).not.toMatch(/key_live|undefined to|\[object/);
      expect([64, 78], which).toContain(exitCodeOf(error));
      expect(sent, which).toEqual([]);
    }
  });

  test.each(Object.keys(options).slice(0, 2))('suggests %s for a misspelling of it', async (name) => {
    const misspelt = `${name.slice(0, -1)}${name.at(-1)?.repeat(2)}`;
    const error = await refusal(() => act({ [misspelt]: true }));
    expect(error).toBeInstanceOf(UsageError);
    expect(`${(error as UsageError).message} ${(error as UsageError).hint}`).toContain(misspelt);
    expect((error as UsageError).hint).toContain(name);
    expect(sent).toEqual([]);
  });
});

it.each<[string, Record<string, unknown>, RegExp, RegExp]>([
  ['a misspelt option', { strickt: true }, /gate: unknown option "strickt"/, /did you mean strict\?/],
  [
    'a text that may be a secret in place of a word',
    { on: { blocked: 'key_1' } },
    /on\.blocked must be one of pass, warn, fail, not a string/,
    /./,
  ],
  ['a misspelt field of the run', { trigger: { ...trigger, tag: ['a'] } }, /"trigger\.tag"/, /mean tags\?/],
  [
    'an address that is not set',
    { apiUrl: undefined },
    /apiUrl is missing/,
    /environment variable is undefined/,
  ],
  ['a signal that is not one', { signal: {} }, /signal must be an AbortSignal/, /./],
])('gate refuses %s', async (_what, options, message, hint) => {
  const error = await refusal(() => gate({ ...service(), trigger, ...options } as GateOptions));
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(message);
  expect((error as UsageError).hint ?? 'none').toMatch(hint);
  expect(sent).toEqual([]);
});

it('names the gate in an error about one of several gates', async () => {
  const wrong = { ...service(), gates: { api: { trigger, strickt: true } } };
  await expect(gates(wrong)).rejects.toThrow('gate api: unknown option "strickt"');
});

it('refuses options that inherit those of an object, also without a prototype', async () => {
  for (const parent of [{ strict: true }, Object.assign(Object.create(null), { strict: true })]) {
    const options = Object.assign(Object.create(parent), service(), { trigger });
    await expect(gate(options)).rejects.toThrow('gate: its argument must be a plain object');
  }
  expect(sent).toEqual([]);
});

it('the methods of a mock refuse a value that they do not know', async () => {
  const mock = await startMock();
  mocks.push(mock);
  const open = createClient({ apiUrl: mock.url, apiKey: mock.apiKey });
  await open.run.trigger(trigger);
  await open.close();
  const runId = String(mock.runs[0]?.runId);
  for (const wrong of [undefined, null, 'fail', 'Passed'])
    expect(() => mock.endRun(runId, wrong as never), String(wrong)).toThrow(UsageError);
  for (const wrong of [undefined, null, 5]) expect(() => mock.deploy(wrong as never)).toThrow(UsageError);
  expect(mock.runs).toMatchObject([{ state: 'in_progress' }]);
});
