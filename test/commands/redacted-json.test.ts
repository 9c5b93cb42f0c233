import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../cli/harness.ts';
import { json, serve } from '../transport/serve.ts';

/** Secrets that JSON can have outside of strings, too. */
const digits = '4815162342';
const secrets = { RUNGATE_TENANT_SECRET: digits, RUNGATE_WEBHOOK_SECRET: 'true\nfalse\nnull' };

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const body = `{"items":[{"id":${digits},"on":true,"off":false,"no":null}],"runId":${digits},"state":"completed","failed":0,"blocked":0,"appUrl":"https://x.test/${digits}","more":{"${digits}":[-${digits}.5]}}`;

/** Runs a command against a service that answers everything with that text. */
async function against(text: string, argv: readonly string[], status = 200) {
  const { url } = await serve(({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  return on.with({ env: { ...secrets, RUNGATE_API_URL: url } })(...argv);
}

describe('a secret of digits, true, false or null leaves the output JSON', () => {
  it.each([
    [['env', 'list', '--json']],
    [['env', 'list', '--format', 'ndjson']],
    [['env', 'list', '--all', '--json']],
    [['env', 'list', '--all', '--format', 'ndjson']],
    [['api', 'GET', '/api/environments']],
    [['api', 'GET', '/api/environments', '--json']],
    [['api', 'GET', '/api/environments', '--format', 'ndjson']],
    [['run', 'status', 'r-1', '--json']],
    [['run', 'wait', 'r-1', '--json']],
    [['run', 'trigger', '--project', 'p', '--process', 'c', '--json']],
    [['env', 'create', '--name', 'x', '--json']],
    [['webhooks', 'create', '--field', 'url=https://x.test', '--json']],
  ])('of rungate %j', async (argv) => {
    const { out, err } = await against(body, argv);
    expect(out, err).not.toBe('');
    expect(out + err).not.toContain(digits);
    if (argv.includes('--all')) {
      expect(
        out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual([{ id: '***', on: true, off: false, no: null }]);
    } else JSON.parse(out);
  });

  it('of an error, its details and its body', async () => {
    const details = { id: Number(digits), yes: 1 };
    const { err } = await against(JSON.stringify({ error: 'no', details }), ['env', 'list', '--json'], 422);
    const { error } = JSON.parse(err);
    expect(error.details).toEqual({ id: '***', yes: 1 });
    expect(error.body).toBe('{"error":"no","details":{"id":"***","yes":1}}');
  });

  it('of the body that a gate refuses', async () => {
    const { out } = await against(`{"state":${digits},"on":1}`, ['run', 'wait', 'r-1', '--json']);
    expect(JSON.parse(out).runs[0].error.body).toBe('{"state":"***","on":1}');
  });

  it('of what is left of a new key, whose token is of digits', async () => {
    const { url } = await serve(({ response }) =>
      json(response, 201, { id: 12345678, apiKey: '12345678', ok: true }),
    );
    const { code, out } = await on.with({
      env: { RUNGATE_API_URL: url },
      createSecretFile: () => ({ write() {}, discard() {} }),
    })('keys', 'create', '--name', 'x', '--output-file', 'k', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ id: '***', ok: true });
  });
});
