import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EndpointName } from '../../../src/contract/index.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const sent = () => on.mock.requests.at(-1)?.body;

const respond = (endpoint?: EndpointName) =>
  on.mock.faults.add({ kind: 'reply', text: '{}', ...(endpoint && { endpoint }) });

/** JSON values that JSON.parse would round or lose. */
const hard = ['9007199254740993', '10.50', '1e400', '-0', '{"__proto__":{"a":1.0}}', '"\\u0041"', 'null'];

describe('values in a request', () => {
  it.each(hard)('are sent unchanged from --json-field: %s', async (json) => {
    respond('env.vars.create');
    expect((await on.rungate('env', 'vars', 'create', 'e1', '--json-field', `value=${json}`)).code).toBe(0);
    expect(sent()).toBe(`{"value":${json}}`);
  });

  it.each(hard)('are sent unchanged from --input, next to an option for a nested field: %s', async (json) => {
    respond('env.update');
    const stdin = `\ufeff{"__proto__": ${json}, "mobileRuntimeOverrides": {"limit": ${json}, "udid": "u"}}`;
    const update = on.with({ stdin });
    expect((await update('env', 'update', 'e1', '--input', '-', '--device-name', 'd"')).code).toBe(0);
    expect(sent()).toBe(
      `{"__proto__":${json},"mobileRuntimeOverrides":{"limit":${json},"udid":"u","deviceName":"d\\""}}`,
    );
  });

  it.each(hard)('are sent unchanged from rungate api: %s', async (json) => {
    respond();
    const flags = ['--json-field', `__proto__=${json}`, '--field', 'text=10.50'];
    expect((await on.rungate('api', 'POST', '/api/new-thing', ...flags)).code).toBe(0);
    expect(sent()).toBe(`{"text":"10.50","__proto__":${json}}`);
  });

  it('come from the last option for a field', async () => {
    respond('env.vars.create');
    const flags = ['--input', '-', '--field', 'n=1', '--json-field', 'n=2.0'];
    await on.with({ stdin: '{"n":0,"m":0}' })('env', 'vars', 'create', 'e1', ...flags);
    expect(sent()).toBe('{"n":2.0,"m":0}');
  });
});

describe('run trigger --json', () => {
  it.each(hard)('prints %s in the response unchanged', async (json) => {
    on.mock.faults.add({ kind: 'reply', text: `{"runId":"r-1","extra":${json}}`, endpoint: 'run.trigger' });
    const { code, out } = await on.rungate(...trigger, '--format', 'ndjson');
    expect(code).toBe(0);
    const printed = json.replace('\\u0041', 'A');
    expect(out.endsWith(`,"response":{"runId":"r-1","extra":${printed}}}\n`), out).toBe(true);
  });

  it('prints valid JSON if a number in the response is a secret', async () => {
    on.mock.faults.add({ kind: 'reply', text: '{"runId":"r-1","pin":123456789}', endpoint: 'run.trigger' });
    const secret = on.with({ env: { RUNGATE_WEBHOOK_SECRET: '123456789' } });
    const { out } = await secret(...trigger, '--json');
    expect(JSON.parse(out).response).toEqual({ runId: 'r-1', pin: '***' });
  });
});

describe('orders get', () => {
  it('accepts a total of any size', async () => {
    const text = '{"id":"o","customer":"c","total":1e400,"currency":"EUR"}';
    on.mock.faults.add({ kind: 'reply', text, endpoint: 'orders.get' });
    expect(await on.rungate('orders', 'get', 'o')).toMatchObject({ code: 0, err: '' });
  });
});

describe('a numeric run id', () => {
  const createThenEnd = (created: string, status: string) => {
    on.mock.faults.add({ kind: 'reply', text: `{"runId":${created}}`, endpoint: 'run.trigger' });
    const ended = (state: string) => `{"runId":${status},"state":"${state}","failed":0,"blocked":0}`;
    on.mock.faults.add({ kind: 'reply', text: ended('in_progress'), endpoint: 'run.status' });
    on.mock.faults.add({ kind: 'reply', text: ended('completed'), endpoint: 'run.status', skip: 1 });
  };

  it.each([
    ['1.0', '1.0', '1'],
    ['1', '1.0', '1'],
    ['1e3', '1000', '1000'],
    ['1e3', '"1000"', '1000'],
  ])('%s matches a status with the runId %s', async (created, status, id) => {
    createThenEnd(created, status);
    const { code, out } = await on.rungate(...trigger, '--wait', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out).runs[0].runId).toBe(id);
    expect(on.mock.requests.at(-1)?.path).toBe(`/api/ci/runs/${id}`);
  });

  it.each([
    ['1.0', '2'],
    ['1', '1.5'],
    ['9007199254740993', '9007199254740992'],
  ])('%s does not match a status with the runId %s', async (created, status) => {
    createThenEnd(created, status);
    const { code, err } = await on.rungate(...trigger, '--wait', '--max-attempts', '2', '--verbose');
    expect(code).not.toBe(0);
    expect(err).toContain(`that of the runId ${status}`);
  });
});
