import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../cli/harness.ts';
import { json, serve } from '../transport/serve.ts';

/** Secrets that can also occur outside the strings of JSON. */
const digits = '4815162342';
const secrets = { RUNGATE_TENANT_SECRET: digits, RUNGATE_WEBHOOK_SECRET: 'true\nfalse\nnull' };

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const body = `{"items":[{"id":${digits},"on":true,"off":false,"no":null}],"runId":${digits},"state":"completed","failed":0,"blocked":0,"appUrl":"https://x.test/${digits}","more":{"${digits}":[-${digits}.5]}}`;

/** Runs a command against a service that responds to every request with `text`. */
async function runAgainst(text: string, argv: readonly string[], status = 200) {
  const { url } = await serve(({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  return on.with({ env: { ...secrets, RUNGATE_API_URL: url } })(...argv);
}

describe('redacting a secret of digits, true, false or null', () => {
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
  ])('leaves valid JSON in the output of %j', async (argv) => {
    const { out, err } = await runAgainst(body, argv);
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

  it('leaves valid JSON in the details and the body of an error', async () => {
    const details = { id: Number(digits), yes: 1 };
    const { err } = await runAgainst(
      JSON.stringify({ error: 'no', details }),
      ['env', 'list', '--json'],
      422,
    );
    const { error } = JSON.parse(err);
    expect(error.details).toEqual({ id: '***', yes: 1 });
    expect(error.body).toBe('{"error":"no","details":{"id":"***","yes":1}}');
  });

  it('leaves valid JSON in the body that a gate refuses', async () => {
    const { out } = await runAgainst(`{"state":${digits},"on":1}`, ['run', 'wait', 'r-1', '--json']);
    expect(JSON.parse(out).runs[0].error.body).toBe('{"state":"***","on":1}');
  });

  it('leaves valid JSON in the response to a new key whose token consists of digits', async () => {
    const { url } = await serve(({ response }) =>
      json(response, 201, { id: 12345678, apiKey: '12345678', ok: true }),
    );
    const { code, out } = await on.with({
      env: { RUNGATE_API_URL: url },
      createSecretFile: () => ({ write() {}, close() {} }),
    })('keys', 'create', '--name', 'x', '--output-file', 'k', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ id: '***', ok: true });
  });
});
