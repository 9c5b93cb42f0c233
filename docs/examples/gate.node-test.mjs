// A suite against the mock with Node's test runner: node --test gate.node-test.mjs
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient, gate, startMock } from 'rungate';

let mock;
before(async () => {
  mock = await startMock({ outcome: ['passed', 'failed'], duration: 100, retryAfterSeconds: 0.05 });
});
after(() => mock.close());

const trigger = { projectSlug: 'shop', tags: ['smoke'] };

test('passes for the first run and fails for the second', async () => {
  const service = { apiUrl: mock.url, apiKey: mock.apiKey };
  assert.equal((await gate({ ...service, trigger })).result, 'pass');
  const { exitCode, runs } = await gate({ ...service, trigger });
  assert.equal(exitCode, 1);
  assert.equal(runs[0]?.failed, 2);
});

test('reads a whole list even if one page fails at first', async () => {
  const client = createClient({ apiUrl: mock.url, token: mock.token });
  mock.faults.add({ kind: 'status', status: 503, endpoint: 'env.list', skip: 1 });
  const keys = [];
  for await (const environment of client.env.list.all({ pageSize: 20 })) keys.push(environment.key);
  assert.equal(keys.length, 47);
  await client.close();
});
