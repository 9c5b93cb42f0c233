import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cli, type Settings } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';

const secret = 'whook-Secret-0123456789';
const timestamp = '2026-01-15T11:58:00.000Z';
const body = '{"type":"run.completed","name":"Zoë ☕"}';

/** Signs as the service does, without rungate's code. */
function sign(content: string | Uint8Array, key = secret, time = timestamp): string {
  return `sha256=${createHmac('sha256', key).update(`${time}.`).update(content).digest('hex')}`;
}

const env = { RUNGATE_WEBHOOK_SECRET: secret };
const signed = ['--timestamp', timestamp, '--signature', sign(body)];

/** The fake clock is at 2026-01-15T12:00:00Z, two minutes after the delivery. */
function verify(argv: readonly string[], settings: Settings = {}) {
  return cli(['webhooks', 'verify', ...argv], { env, stdin: body, clock: fakeClock(), ...settings });
}

async function verdict(argv: readonly string[], settings: Settings = {}) {
  const { code, out, err } = await verify([...argv, '--json'], settings);
  return { exit: code, ...JSON.parse(out), err };
}

describe('webhooks verify accepts an authentic delivery', () => {
  it('with its body on standard input', async () => {
    const { code, out, err } = await verify(signed);
    expect({ code, err }).toEqual({ code: 0, err: 'authentic: signed with the webhook secret, 2 min old\n' });
    expect(out).toBe(
      `authentic\ttrue\ntimestamp\t${timestamp}\nageSeconds\t120\nsecret\twebhook\nsecretIndex\t0\nbytes\t${Buffer.byteLength(body)}\n`,
    );
  });

  it('signed with an older secret, and shows the index of that secret', async () => {
    const two = { RUNGATE_WEBHOOK_SECRET: `new-secret-1\r\n\n${secret}\n` };
    expect(await verdict(signed, { env: two })).toMatchObject({ exit: 0, secret: 'webhook', secretIndex: 1 });
    expect((await verify(signed, { env: two })).err).toContain('the webhook secret (2 of 2)');
  });

  it('signed with the tenant secret, which replaces the webhook secret', async () => {
    const both = { RUNGATE_WEBHOOK_SECRET: secret, RUNGATE_TENANT_SECRET: 'tenant-secret-1' };
    expect(await verdict(signed, { env: both })).toMatchObject({ exit: 1, code: 'mismatch', secret: null });
    const byTenant = ['--timestamp', timestamp, '--signature', sign(body, 'tenant-secret-1')];
    expect(await verdict(byTenant, { env: both })).toMatchObject({
      exit: 0,
      secret: 'tenant',
      secretIndex: 0,
    });
  });
});

describe('webhooks verify refuses a delivery with exit code 1', () => {
  it.each<[string, string, readonly string[], Settings]>([
    ['another body', 'mismatch', signed, { stdin: `${body}\n` }],
    [
      'a timestamp without a zone',
      'malformed_timestamp',
      ['--timestamp', '2026-01-15T11:58:00', '--signature', sign(body)],
      {},
    ],
    ['an empty signature', 'malformed_signature', ['--timestamp', timestamp, '--signature', ''], {}],
    [
      'a missing header',
      'missing_header',
      ['--headers-file', 'h'],
      { files: { h: `X-Service-Timestamp: ${timestamp}\n` } },
    ],
  ])('for %s: %s', async (_what, code, argv, settings) => {
    expect(await verdict(argv, settings)).toMatchObject({
      exit: 1,
      authentic: false,
      code,
      secretIndex: null,
    });
    const { out, err } = await verify(argv, settings);
    expect(out).toMatch(new RegExp(`^authentic\\tfalse\\ncode\\t${code}\\n`));
    expect(err).toMatch(new RegExp(`^not authentic: .* \\(${code}\\)\\n`));
  });
});

describe('webhooks verify: the age', () => {
  it('is checked only with --tolerance', async () => {
    const late = { clock: fakeClock(Date.UTC(2030, 0, 1)) };
    expect((await verify(signed, late)).code).toBe(0);
    const refused = await verdict([...signed, '--tolerance', '5m'], late);
    expect(refused).toMatchObject({ exit: 1, code: 'too_old', secret: 'webhook', secretIndex: 0 });
    expect((await verify([...signed, '--tolerance', '2m'])).code).toBe(0);
    expect((await verify([...signed, '--tolerance', '119'])).code).toBe(1);
  });

  it('is printed, also for a timestamp that is ahead, which may be so by a minute', async () => {
    const early = [...signed, '--at', '2026-01-15T11:56:59Z', '--tolerance', '5m'];
    expect(await verdict(early)).toMatchObject({ code: 'too_new' });
    expect((await verify([...signed, '--at', '2026-03-15T12:00:00Z'])).err).toContain(', 59 days old');
    expect((await verify([...signed, '--at', '2026-01-15T11:57:00Z'])).err).toContain(
      ', timestamp 1 min ahead',
    );
  });
});

describe('webhooks verify --headers-file', () => {
  const signature = sign(body);
  const lines = [`X-Service-Timestamp: ${timestamp}`, `X-Service-Signature: ${signature}`];

  it.each<[string, string | Uint8Array]>([
    ['lines', `${lines.join('\n')}\n`],
    ['a request line first', `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{"the":"body"}`],
    ['UTF-16, as PowerShell writes it', Buffer.from(`\ufeff${lines.join('\r\n')}\r\n`, 'utf16le')],
  ])('reads %s', async (_what, text) => {
    expect(await verify(['--headers-file', 'h'], { files: { h: text } })).toMatchObject({ code: 0 });
  });

  it.each<[string, string, RegExp]>([
    ['a line that is not a header', `${lines[0]}\nX-Service-Signature ${secret}\n`, /line 2 is not a header/],
    ['an empty file', '\n\n', /contains no headers/],
  ])('rejects %s with exit code 64', async (_what, text, message) => {
    const { code, out, err } = await verify(['--headers-file', 'h'], { files: { h: text } });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain(secret);
  });
});

describe('webhooks verify --request-file', () => {
  const head = `POST /hook?x=1 HTTP/1.1\r\nHost: x\r\nX-Service-Timestamp: ${timestamp}\r\nX-Service-Signature: ${sign(body)}\r\n`;
  const length = Buffer.byteLength(body);
  it.each<[string, string | Uint8Array]>([
    ['without a length, whose body is the rest of the file', `${head}\r\n${body}`],
    [
      'with Content-Length, and line breaks that an editor added',
      `${head}content-length:${length}\r\n\r\n${body}\n\n`,
    ],
    ['with a chunked body that is already decoded', `${head}Transfer-Encoding: chunked\r\n\r\n${body}`],
  ])('reads a request %s', async (_what, file) => {
    expect(await verdict(['--request-file', 'r'], { files: { r: file } })).toMatchObject({
      exit: 0,
      bytes: length,
    });
    expect(await verdict(['--request-file', '-'], { stdin: file })).toMatchObject({ exit: 0, bytes: length });
  });

  it.each<[string, string | Uint8Array, RegExp]>([
    ['without a blank line', head, /no blank line/],
    ['with a line that is not a header', `POST / HTTP/1.1\r\nwhat\r\n\r\n${body}`, /line 2 is neither/],
    ['that is cut off', `${head}Content-Length: ${length + 5}\r\n\r\n${body}`, /5 bytes shorter than/],
    [
      'with a chunked body',
      `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
      /the body is chunked/,
    ],
  ])('rejects a request %s with exit code 64', async (_what, r, message) => {
    const { code, out, err } = await verify(['--request-file', 'r'], { files: { r } });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
  });
});

describe('webhooks verify, with exit code 64 and a hint,', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['no headers', [], /in exactly one way[\s\S]*--timestamp <t> and --signature <s>, or --headers-file/],
    ['only a signature', ['--signature', sign(body)], /in exactly one way/],
    ['--headers-file and --request-file', ['--headers-file', 'h', '--request-file', 'r'], /exactly one way/],
    ['--body-file and --request-file', ['--body-file', 'b', '--request-file', 'r'], /contains its body/],
    ['everything on standard input', ['--headers-file', '-'], /both come from standard input/],
    ['a missing body file', [...signed, '--body-file', 'gone'], /cannot read gone: no such file/],
    ['a time without a zone', [...signed, '--at', '2026-01-15T12:00:00'], /RFC 3339/],
  ])('rejects %s', async (_what, argv, message) => {
    const { code, out, err } = await verify(argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain(secret);
  });
});

describe('webhooks verify and sign', () => {
  it.each([{}, { RUNGATE_WEBHOOK_SECRET: '' }, { RUNGATE_WEBHOOK_SECRET: ' \n \n' }])(
    'exit with 78 without a secret, and name the variables: %j',
    async (none) => {
      for (const argv of [['verify', ...signed], ['sign']]) {
        const { code, out, err } = await cli(['webhooks', ...argv], { env: none, stdin: body });
        expect({ code, out }).toEqual({ code: 78, out: '' });
        for (const name of ['WEBHOOK_SECRET', 'WEBHOOK_SECRET_FILE', 'TENANT_SECRET', 'TENANT_SECRET_FILE']) {
          expect(err).toContain(`RUNGATE_${name}`);
        }
      }
    },
  );

  it('never print any of the secrets, in an error, a diagnosis or a verdict', async () => {
    const secrets = ['first-secret-11', 'second-secret-22 ', '00ff10a0b1c2d3e4'];
    const all = { RUNGATE_WEBHOOK_SECRET: secrets.join('\n'), RUNGATE_TENANT_SECRET: 'tenant-secret-1' };
    for (const argv of [
      [...signed, '--diagnose'],
      [...signed, '--diagnose', '--json'],
      ['--headers-file', 'second-secret-22 '],
      ['--headers-file', 'first-secret-11', '--json'],
    ]) {
      const { out, err } = await verify(argv, { env: all });
      for (const one of [...secrets, 'tenant-secret-1']) expect(`${out}${err}`).not.toContain(one);
    }
  });
});

describe('webhooks verify --diagnose', () => {
  it('prints the cause and the remedy, and still exits with 1', async () => {
    const { code, out, err } = await verify([...signed, '--diagnose'], { stdin: `${body}\n` });
    expect(code).toBe(1);
    expect(out).toContain('cause\tnewline_added\n');
    expect(err).toMatch(
      /^not authentic: [\s\S]*^cause: a line break was added at the end of the body \(newline_added\)$\n {2}→ /m,
    );
  });
});

describe('webhooks sign', () => {
  const signCommand = (argv: readonly string[] = [], settings: Settings = {}) =>
    cli(['webhooks', 'sign', ...argv], { env, stdin: body, clock: fakeClock(), ...settings });

  it('prints the two headers as lines for curl -H @-', async () => {
    for (const isTTY of [false, true]) {
      const { code, out, err } = await signCommand(['--timestamp', timestamp], { isTTY });
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toBe(`X-Service-Timestamp: ${timestamp}\nX-Service-Signature: ${sign(body)}\n`);
    }
  });

  it('signs a file with the current time and configured header names, and webhooks verify accepts it', async () => {
    const files = { b: 'x' };
    const names = ['--timestamp-header', 'X-Acme-Time', '--signature-header', 'X-Acme-Sig'];
    const { out } = await signCommand(['--body-file', 'b', ...names], { files });
    expect(out).toMatch(/^X-Acme-Time: 2026-01-15T12:00:00.000Z\nX-Acme-Sig: sha256=/);
    const both = { h: out, ...files };
    const argv = ['--headers-file', 'h', '--body-file', 'b', '--tolerance', '1s', ...names];
    expect((await verify(argv, { files: both })).code).toBe(0);
  });

  it.each(['2026-01-15T12:00:00', ''])('refuses the timestamp %j', async (time) => {
    expect(await signCommand(['--timestamp', time])).toMatchObject({ code: 64, out: '' });
  });
});
