import { afterEach, expect, it } from 'vitest';
import {
  gate,
  type Mock,
  type MockOptions,
  type SharedGateOptions,
  startMock,
  type TriggerBody,
  UsageError,
} from '../../src/index.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { fakeClock } from '../fake-clock.ts';
import { commit, statement, trusted } from '../receipt/table.ts';

let mock: Mock;
afterEach(() => mock.close());

const trigger = {
  projectSlug: 'shop',
  processSlug: 'checkout',
  environmentKey: 'staging',
  commitSha: commit,
  repository: 'acme/shop',
};
const clock = fakeClock();
async function result(
  options: MockOptions = {},
  { trigger: body = trigger, ...more }: Partial<SharedGateOptions> & { trigger?: TriggerBody } = {},
) {
  mock = await startMock({ clock, outcome: 'passed', ...options });
  return gate({ apiUrl: mock.url, apiKey: mock.apiKey, clock, trigger: body, ...more });
}
const verified = (receipt: unknown, more = {}) =>
  verifyReceipt({
    receipt: JSON.stringify(receipt),
    keys: trusted.publicPem,
    commit,
    now: new Date(clock.now()),
    ...more,
  });

it('result.receipt() returns a signed receipt with the facts of the gate', async () => {
  const report = await result({}, { strict: true });
  const receipt = await report.receipt({ key: trusted.privatePem });
  const facts = { repository: 'acme/shop', project: 'shop', process: 'checkout', environment: 'staging' };
  const { result: outcome, statement: signed } = await verified(receipt, { ...facts, maxAgeMs: 1000 });
  expect(outcome).toBe('PASSED');
  expect(signed.predicate.configuration[0]).toMatchObject({
    uri: mock.url,
    annotations: { rungate: { runs: [{ runId: report.runs[0]?.runId }] } },
  });
});

it('a receipt has the subjects as they were when the gate began', async () => {
  const subjects = [`ghcr.io/acme/shop:1.2@SHA256:${'AB'.repeat(32)}`];
  const report = await result({}, { subjects });
  subjects.pop();
  const image = { name: 'ghcr.io/acme/shop:1.2', digest: { sha256: 'ab'.repeat(32) } };
  expect(await report.receipt()).toMatchObject({ subject: [{ name: 'acme/shop' }, image] });
});

it.each([
  [['shop:1.2'], 'subjects[0] must be <name>@sha256:<64 hex digits>'],
  [
    [`a@sha256:${'ab'.repeat(32)}`, `a@sha256:${'cd'.repeat(32)}`],
    'subjects: two subjects have the same name',
  ],
])('the subjects %j are refused before anything is sent', async (subjects, message) => {
  await expect(result({}, { subjects })).rejects.toThrow(message);
  expect(mock.requests).toHaveLength(0);
});

it('without a key, returns the statement without a signature', async () => {
  const receipt = await (await result()).receipt();
  expect(receipt).toMatchObject({ _type: statement._type, predicate: { result: 'PASSED' } });
});

it.each([
  ['a timeout that only warns', { outcome: 'stuck' }, { timeoutMs: 60_000, on: { timeout: 'warn' } }],
  ['an abort', { outcome: 'stuck' }, { signal: AbortSignal.abort() }],
] as const)('returns null after %s', async (_name, options, more) => {
  expect(await (await result(options, more)).receipt({ key: trusted.privatePem, commit })).toBeNull();
});

it('refuses an unknown or abbreviated commit and a key that cannot sign', async () => {
  const { commitSha: _commit, ...bare } = trigger;
  const report = await result({}, { trigger: bare });
  await expect(report.receipt()).rejects.toThrow(UsageError);
  await expect(report.receipt({ commit: commit.slice(0, 12) })).rejects.toThrow(/full commit hash/);
  await expect(report.receipt({ commit, key: trusted.publicPem })).rejects.toThrow(
    /key cannot sign: it is a public key/,
  );
});

it('contains no credential', async () => {
  mock = await startMock({ clock, outcome: 'passed' });
  const report = await gate({
    apiUrl: mock.url,
    apiKey: mock.apiKey,
    clock,
    trigger: { ...trigger, ref: mock.apiKey, externalUrl: `https://ci.example.com/${mock.apiKey}` },
  });
  expect(JSON.stringify(await report.receipt())).not.toContain(mock.apiKey);
});
