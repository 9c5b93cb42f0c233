import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/create-client.ts';
import { otherFields } from '../../../src/client/fields.ts';
import { HttpError } from '../../../src/errors.ts';
import { type Stage, stage } from '../../cli/harness.ts';
import { rejection } from '../../client/rejection.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const secret = 'whsec_0123456789abcdef';
const input = (value: unknown) => ({ stdin: JSON.stringify(value) });

/** Makes the service refuse each request and echo `text` in the error. */
function echo(text = secret) {
  const body = { error: `no: ${text}`, details: { given: text }, debug: [`"${text}"`] };
  on.mock.faults.add({ kind: 'status', status: 400, body, times: Number.POSITIVE_INFINITY });
}

const formats = [[], ['--verbose'], ['--json']];

describe('a secret in a request body that the service echoes', () => {
  it.each<[string, readonly string[], object?]>([
    ['--field', ['webhooks', 'create', '--field', `secret=${secret}`]],
    ['--json-field', ['webhooks', 'create', '--json-field', `signingSecret="${secret}"`]],
    ['--input', ['webhooks', 'create', '--input', '-'], input({ a: [{ hmac_secret: secret }] })],
    [
      'the value of a variable',
      ['env', 'vars', 'create', 'e1', '--field', 'name=A', '--field', `value=${secret}`],
    ],
    ['a new value of a variable', ['env', 'vars', 'update', 'e1', 'v1', '--field', `value=${secret}`]],
    [
      'a value marked as sensitive',
      ['env', 'create', '--input', '-'],
      input({ vars: [{ value: secret, sensitive: true }] }),
    ],
    [
      'a value with a secret name',
      ['env', 'create', '--input', '-'],
      input({ key: 'DB_PASSWORD', value: secret }),
    ],
    ['rungate api', ['api', 'POST', '/api/webhooks', '--field', `secret=${secret}`]],
  ])('is redacted: %s', async (_what, argv, settings = {}) => {
    echo();
    for (const format of formats) {
      const { code, out, err } = await on.with(settings)(...argv, ...format);
      expect({ code, out }, err).toEqual({ code: 5, out: '' });
      expect(err).toContain('***');
      expect(err).not.toContain(secret);
    }
  });

  it('is redacted in the message, details and body of a library error', async () => {
    echo();
    const client = createClient({ apiUrl: on.mock.url, token: on.mock.token });
    const error = await rejection(client.webhooks.create(otherFields({ secret })), HttpError);
    await client.close();
    expect(error).toMatchObject({ status: 400, error: 'no: ***', details: { given: '***' } });
    expect(JSON.stringify([error.message, error.body, error.stack])).not.toContain(secret);
  });

  it('is redacted in a usage error for --field', async () => {
    const { code, err } = await on.rungate('webhooks', 'create', '--field', `secret:${secret}`);
    expect(code).toBe(64);
    expect(err).not.toContain(secret);
  });
});
