// A test suite of your own against the mock, in vitest: what your pipeline does is tested without the service.
import { gate, type Mock, startMock } from 'rungate';
import { afterEach, beforeEach, expect, test } from 'vitest';

let mock: Mock;

beforeEach(async () => {
  // Runs take a tenth of a second here, and each status asks for the next read soon after.
  mock = await startMock({ duration: 100, retryAfterSeconds: 0.05 });
});
afterEach(() => mock.close());

/** What you are testing; in your project it is imported. */
function deployGate(service: { apiUrl: string; apiKey: string }, signal?: AbortSignal) {
  const trigger = { projectSlug: 'shop', processSlug: 'checkout', environmentKey: 'staging' };
  return gate({ ...service, trigger, strict: true, timeoutMs: 60_000, signal });
}
const service = () => ({ apiUrl: mock.url, apiKey: mock.apiKey });

test('a run that passes opens the gate', async () => {
  const report = await deployGate(service());
  expect(report).toMatchObject({ gate: 'pass', exitCode: 0, runs: [{ verdict: 'passed' }] });
  expect(mock.runs[0]?.request.environmentKey).toBe('staging');
});

test.each([
  ['failed', 1],
  ['blocked', 2],
  ['cancelled', 4],
] as const)('a run that is %s closes it, with the exit code %i', async (outcome, exitCode) => {
  const bad = await startMock({ outcome, duration: 0 });
  const report = await deployGate({ apiUrl: bad.url, apiKey: bad.apiKey });
  await bad.close();
  expect(report).toMatchObject({ gate: 'fail', exitCode });
});

test('a proxy that answers with a page of its own is waited out', async () => {
  mock.faults.add({ kind: 'html-502', endpoint: 'run.status', times: 2 });
  expect((await deployGate(service())).gate).toBe('pass');
});

test('a lost reply starts no second run', async () => {
  mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
  expect((await deployGate(service())).gate).toBe('pass');
  expect(mock.runs).toHaveLength(1);
  expect(mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger')).toHaveLength(2);
});

test('who is stopped leaves no run behind', async () => {
  const stop = new AbortController();
  const going = deployGate(service(), stop.signal);
  await expect.poll(() => mock.runs.length).toBe(1);
  stop.abort();
  expect(await going).toMatchObject({ gate: 'fail', interruptedBy: 'abort', cancellation: 'requested' });
  expect(mock.runs[0]?.state).toBe('cancelled');
});
