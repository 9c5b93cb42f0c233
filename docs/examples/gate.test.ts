// A vitest suite against the mock: it tests your pipeline's gate without the service.
import { gate, type Mock, startMock } from 'rungate';
import { afterEach, beforeEach, expect, test } from 'vitest';

let mock: Mock;

beforeEach(async () => {
  // Runs take 100 ms, and each status asks for the next read 50 ms later.
  mock = await startMock({ duration: 100, retryAfterSeconds: 0.05 });
});
afterEach(() => mock.close());

/** The code under test; in your project, import it. */
function deployGate(service: { apiUrl: string; apiKey: string }, signal?: AbortSignal) {
  const trigger = { projectSlug: 'shop', processSlug: 'checkout', environmentKey: 'staging' };
  return gate({ ...service, trigger, signal });
}
const service = () => ({ apiUrl: mock.url, apiKey: mock.apiKey });

test('passes the gate for a run that passes', async () => {
  const report = await deployGate(service());
  expect(report).toMatchObject({ result: 'pass', exitCode: 0, runs: [{ verdict: 'passed' }] });
  expect(mock.runs[0]?.request.environmentKey).toBe('staging');
});

test.each([
  ['failed', 1],
  ['blocked', 2],
  ['cancelled', 4],
] as const)('fails the gate for a run that is %s, with exit code %i', async (outcome, exitCode) => {
  const bad = await startMock({ outcome, duration: 0 });
  const report = await deployGate({ apiUrl: bad.url, apiKey: bad.apiKey });
  await bad.close();
  expect(report).toMatchObject({ result: 'fail', exitCode });
});

test('waits until a proxy stops sending its own error page', async () => {
  mock.faults.add({ kind: 'html-502', endpoint: 'run.status', times: 2 });
  expect((await deployGate(service())).result).toBe('pass');
});

test('starts one run even if the response is lost', async () => {
  mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
  expect((await deployGate(service())).result).toBe('pass');
  expect(mock.runs).toHaveLength(1);
  expect(mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger')).toHaveLength(2);
});

test('cancels its run when it is stopped', async () => {
  const slow = await startMock({ outcome: 'stuck' });
  const stop = new AbortController();
  const going = deployGate({ apiUrl: slow.url, apiKey: slow.apiKey }, stop.signal);
  await expect.poll(() => slow.runs.length).toBe(1);
  stop.abort();
  expect(await going).toMatchObject({ result: 'fail', interruptedBy: 'abort', cancellation: 'requested' });
  expect(slow.runs[0]?.state).toBe('cancelled');
  await slow.close();
});
