import { afterEach, describe, expect, test } from 'vitest';
import { createClient, gate, gates, startMock, startRun } from '../../src/index.ts';
import type { PreparedRequest } from '../../src/transport/transport.ts';
import { fakeClock } from '../fake-clock.ts';

const added: string[] = [];
/** Pollutes Object.prototype, as code does that merges JSON carelessly. */
function pollute(name: string, value: unknown): void {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
  added.push(name);
}
afterEach(() => {
  for (const name of added.splice(0)) Reflect.deleteProperty(Object.prototype, name);
});

const aborted = AbortSignal.abort('polluted');
const fail = () => {
  throw new Error('polluted');
};
/** Every option of the gate, the start and the client, with a value that would change their behaviour. */
const options: readonly (readonly [string, unknown])[] = [
  ['trigger', { projectSlug: 'polluted', tags: ['x'] }],
  ['runIds', ['polluted']],
  ['idempotencyKey', 'polluted'],
  ['idempotencySalt', 'polluted'],
  ['env', { GITHUB_ACTIONS: 'true', GITHUB_REF_NAME: 'polluted' }],
  ['strict', true],
  ['on', { failed: 'pass', cancelled: 'pass' }],
  ['cancelled', 'pass'],
  ['intervalMs', 1],
  ['timeoutMs', 1],
  ['maxAttempts', 1],
  ['retries', 3],
  ['gates', {}],
  ['needs', ['polluted']],
  ['advisory', true],
  ['failFast', true],
  ['hub', { url: 'polluted://', token: 'polluted' }],
  ['deployed', { url: 'polluted://', is: 'polluted' }],
  ['signal', aborted],
  ['cancelOnAbort', false],
  ['cancelOnTimeout', true],
  ['cancelReason', 'polluted'],
  ['idPointer', '/polluted'],
  ['onProgress', fail],
  ['onExchange', fail],
  ['onRetry', fail],
  ['apiKey', 'polluted'],
  ['token', 'polluted'],
  ['auth', 'bearer'],
  ['insecureHttp', true],
  ['requestTimeoutMs', -1],
  ['callTimeoutMs', -1],
  ['caPem', 'polluted'],
  ['proxyEnv', { https_proxy: 'polluted://' }],
  ['userAgent', 'polluted'],
  ['pace', false],
  ['maxRequests', 0],
  ['limitTimeoutMs', -1],
  ['check', false],
  ['providerModelField', 'polluted'],
  ['journal', { triggering: fail, created: fail, settled: fail }],
  ['start', { body: {}, keys: [] }],
  ['headers', { 'x-added': 'polluted' }],
  ['ref', 'polluted'],
  ['reason', 'polluted'],
  ['RUNGATE_JOURNAL', '/polluted'],
  ['GITHUB_ACTIONS', 'true'],
];

const triggered = { projectSlug: 'shop', processSlug: 'checkout' };
const sent: PreparedRequest[] = [];
/** Returns a service whose runs end as cancelled, which is a warning by default. */
function service() {
  let reads = 0;
  const transport = {
    async send(request: PreparedRequest) {
      sent.push(request);
      reads += 1;
      const body =
        request.endpoint === 'run.trigger'
          ? { runId: 'r-1' }
          : reads < 4
            ? { state: 'in_progress' }
            : { state: 'cancelled', failed: 0, blocked: 0 };
      return { status: 200, headers: {}, text: JSON.stringify(body) };
    },
    close: async () => {},
  };
  sent.length = 0;
  return {
    apiUrl: 'https://service.example.com',
    apiKey: 'own-key',
    transport,
    clock: fakeClock(),
    random: () => 0.5,
  };
}

/** Returns the requests that were sent, without the random key. */
const wire = () =>
  sent.map(({ endpoint, method, path, headers, body, repeatable, maxReplyBytes }) => {
    const { 'idempotency-key': key, ...others } = headers;
    return {
      endpoint,
      method,
      path,
      others,
      keyed: key !== undefined && key !== 'polluted',
      body,
      repeatable,
      maxReplyBytes,
    };
  });

const entries: Readonly<Record<string, () => Promise<unknown>>> = {
  'gate with a trigger': () => gate({ ...service(), trigger: { ...triggered } }),
  'gate with run ids': () => gate({ ...service(), runIds: ['r-1'] }),
  'gate in a CI job': () => gate({ ...service(), trigger: { ...triggered }, env: { CI: 'true' } }),
  gates: () => gates({ ...service(), gates: { api: { trigger: { ...triggered } } } }),
  startRun: () => startRun({ ...service(), trigger: { ...triggered } }),
  'a client': async () => {
    const client = createClient(service());
    return [
      await client.run.status('r-1'),
      await client.run.cancel('r-1'),
      await client.run.trigger(triggered),
    ];
  },
};

/** Returns the result without the parts that differ between two starts. */
const stable = (result: unknown) =>
  JSON.parse(JSON.stringify(result), (name, value) => (name === 'idempotencyKey' ? typeof value : value));

describe.each(Object.entries(entries))('%s', (_, call) => {
  test.each(options)('takes no %s from Object.prototype', async (name, value) => {
    const expected = [stable(await call()), wire()];
    pollute(name, value);
    expect([stable(await call()), wire()]).toEqual(expected);
  });
});

test.each([
  ['outcome', 'failed'],
  ['seed', 7],
  ['apiKey', 'polluted'],
  ['token', 'polluted'],
  ['tenantSecret', 'polluted'],
  ['allowHosts', ['evil.example.com']],
  ['rateLimit', 'documented'],
  ['deliveries', 'any'],
  ['duration', 1],
  ['retryAfterSeconds', 9],
  ['counts', { failed: 9 }],
  ['appUrlBase', 'https://polluted.example.com'],
  ['data', { orders: 1 }],
  ['orders', 1],
  ['faults', [{ kind: 'reset' }]],
  ['page', true],
  ['deliver', fail],
] as const)('startMock takes no %s from Object.prototype', async (name, value) => {
  const played = async () => {
    const mock = await startMock({ clock: fakeClock(), data: {}, counts: {} });
    const client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
    try {
      await client.run.trigger(triggered);
      const [only] = mock.runs;
      const { length } = (await client.orders.list()).orders;
      const page = (await fetch(`${mock.url}/`)).status;
      return [mock.apiKey, mock.token, mock.faults.list, only?.state, only?.appUrl, length, page];
    } finally {
      await client.close();
      await mock.close();
    }
  };
  const expected = await played();
  pollute(name, value);
  expect(await played()).toEqual(expected);
});

test('counts that a status does not have are not taken from Object.prototype', async () => {
  const transport = {
    send: async () => ({ status: 200, headers: {}, text: '{"state":"completed"}' }),
    close: async () => {},
  };
  pollute('failed', 0);
  pollute('blocked', 0);
  const report = await gate({ ...service(), transport, runIds: ['r-1'] });
  expect(report).toMatchObject({ result: 'fail', runs: [{ verdict: 'unobserved' }] });
});
