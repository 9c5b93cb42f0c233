import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cli, type Settings } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';
import { bodyOf, refused, secretOf, vectors } from '../../webhook/vectors.ts';

const secret = 'whook-Secret-0123456789';
const timestamp = '2026-01-15T11:58:00.000Z';
const body = '{"type":"run.completed","name":"Zoë ☕"}';

/** What the service sends, made without any code of ours. */
function sign(content: string | Uint8Array, key = secret, time = timestamp): string {
  return `sha256=${createHmac('sha256', key).update(`${time}.`).update(content).digest('hex')}`;
}

const hasOpenssl = (() => {
  try {
    return execFileSync('openssl', ['version']).length > 0;
  } catch {
    return false;
  }
})();

const env = { RUNGATE_WEBHOOK_SECRET: secret };
const signed = ['--timestamp', timestamp, '--signature', sign(body)];

/** The clock of the tests stands at 2026-01-15T12:00:00Z, two minutes after the delivery. */
function verify(argv: readonly string[], settings: Settings = {}) {
  return cli(['webhooks', 'verify', ...argv], { env, stdin: body, clock: fakeClock(), ...settings });
}

async function verdict(argv: readonly string[], settings: Settings = {}) {
  const { code, out, err } = await verify([...argv, '--json'], settings);
  return { exit: code, ...JSON.parse(out), err };
}

describe('webhooks verify: an authentic delivery is 0', () => {
  it('with the body on standard input', async () => {
    const { code, out, err } = await verify(signed);
    expect({ code, err }).toEqual({ code: 0, err: 'authentic: signed with the webhook secret, 2 min old\n' });
    expect(out).toBe(
      `authentic\ttrue\ntimestamp\t${timestamp}\nageSeconds\t120\nsecret\twebhook\nsecretIndex\t0\nbytes\t${Buffer.byteLength(body)}\n`,
    );
  });

  it('as JSON', async () => {
    const { code, out } = await verify([...signed, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      schemaVersion: 1,
      authentic: true,
      code: null,
      timestamp,
      ageSeconds: 120,
      secret: 'webhook',
      secretIndex: 0,
      bytes: Buffer.byteLength(body),
    });
  });

  it('with the body in a file, and - for standard input', async () => {
    const files = { 'body.json': body };
    expect((await verify(['--body-file', 'body.json', ...signed], { files, stdin: 'else' })).code).toBe(0);
    expect((await verify(['--body-file', '-', ...signed])).code).toBe(0);
  });

  it('whatever bytes it has, and however many', async () => {
    for (const bytes of [
      new Uint8Array(),
      Uint8Array.of(0xff, 0xfe, 0, 0x0a),
      Buffer.from('\ufeff{}\r\n'),
      Buffer.alloc(3_000_000, 'ab\u00e9\n'),
    ]) {
      const given = ['--timestamp', timestamp, '--signature', sign(bytes)];
      expect(await verdict(given, { stdin: bytes })).toMatchObject({ exit: 0, bytes: bytes.length });
    }
  });

  it('with an older secret, which is named by its place', async () => {
    const two = { RUNGATE_WEBHOOK_SECRET: `new-secret-1\r\n\n${secret}\n` };
    expect(await verdict(signed, { env: two })).toMatchObject({ exit: 0, secret: 'webhook', secretIndex: 1 });
    expect((await verify(signed, { env: two })).err).toContain('the webhook secret (2 of 2)');
  });

  it('with the tenant secret, which alone is tried where it is set', async () => {
    const both = { RUNGATE_WEBHOOK_SECRET: secret, RUNGATE_TENANT_SECRET: 'tenant-secret-1' };
    expect(await verdict(signed, { env: both })).toMatchObject({ exit: 1, code: 'mismatch', secret: null });
    const byTenant = ['--timestamp', timestamp, '--signature', sign(body, 'tenant-secret-1')];
    expect(await verdict(byTenant, { env: both })).toMatchObject({
      exit: 0,
      secret: 'tenant',
      secretIndex: 0,
    });
  });

  it('with secrets from files', async () => {
    const files = { '/run/s': `other-secret\n${secret}\n`, '/run/t': `${secret}\n` };
    for (const name of ['RUNGATE_WEBHOOK_SECRET_FILE', 'RUNGATE_TENANT_SECRET_FILE']) {
      const path = name.includes('TENANT') ? '/run/t' : '/run/s';
      expect((await verify(signed, { env: { [name]: path }, files })).code).toBe(0);
    }
  });

  it.skipIf(!hasOpenssl)('that openssl signed', async () => {
    const digest = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], {
      input: Buffer.concat([Buffer.from(`${timestamp}.`), Buffer.from(body)]),
    });
    const hex = digest.toString().trim().split(' ').at(-1) ?? '';
    expect((await verify(['--timestamp', timestamp, '--signature', `sha256=${hex}`])).code).toBe(0);
  });
});

describe('webhooks verify: the vectors of openssl (fixtures/webhooks)', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const asText = (bytes: Uint8Array) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return '\n';
    }
  };
  // A variable or a line of a file holds text: keys of other bytes are for the library.
  const lines = vectors.filter((one) => !/^\s*$|[\r\n\0]/.test(asText(secretOf(one))));

  it.each(lines.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const argv = ['--timestamp', one.timestamp, '--signature', one.signature];
    const own = { RUNGATE_WEBHOOK_SECRET: asText(secretOf(one)) };
    const code = refused.includes(name) ? 'malformed_timestamp' : null;
    expect(await verdict(argv, { env: own, stdin: bodyOf(one.body) })).toMatchObject({ code });
  });
});

describe('webhooks verify: what is not authentic is 1, and says why', () => {
  const flip = (text: string) => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'));

  it.each<[string, string, readonly string[], Settings]>([
    ['another body', 'mismatch', signed, { stdin: `${body}\n` }],
    [
      'another timestamp',
      'mismatch',
      ['--timestamp', timestamp.replace('58', '57'), '--signature', sign(body)],
      {},
    ],
    ['another signature', 'mismatch', ['--timestamp', timestamp, '--signature', flip(sign(body))], {}],
    ['another secret', 'mismatch', signed, { env: { RUNGATE_WEBHOOK_SECRET: 'other-secret' } }],
    [
      'a timestamp without a zone',
      'malformed_timestamp',
      ['--timestamp', '2026-01-15T11:58:00', '--signature', sign(body)],
      {},
    ],
    ['Unix seconds', 'malformed_timestamp', ['--timestamp', '1768478280', '--signature', sign(body)], {}],
    ['bare hex', 'malformed_signature', ['--timestamp', timestamp, '--signature', sign(body).slice(7)], {}],
    ['an empty signature', 'malformed_signature', ['--timestamp', timestamp, '--signature', ''], {}],
    [
      'a missing header',
      'missing_header',
      ['--headers-file', 'h'],
      { files: { h: `X-Service-Timestamp: ${timestamp}\n` } },
    ],
    [
      'two signatures',
      'duplicate_header',
      ['--headers-file', 'h'],
      { files: { h: `X-Service-Timestamp: ${timestamp}\nx-service-signature: a\nX-Service-Signature: b\n` } },
    ],
  ])('%s: %s', async (_what, code, argv, settings) => {
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

  it('malformed headers are found before the body is read', async () => {
    const argv = ['--timestamp', 'now', '--signature', sign(body), '--body-file', 'gone'];
    expect(await verdict(argv)).toMatchObject({ exit: 1, code: 'malformed_timestamp', bytes: null });
  });

  it('hostile text in a header stays harmless', async () => {
    const argv = ['--timestamp', '\u001b[2J\n::error::x', '--signature', sign(body), '--diagnose'];
    const { code, out, err } = await verify(argv);
    expect(code).toBe(1);
    expect(`${out}${err}`).not.toContain('\u001b');
    expect(`${out}${err}`).not.toMatch(/^::/m);
  });
});

describe('webhooks verify: the age', () => {
  it('counts only with --tolerance', async () => {
    const late = { clock: fakeClock(Date.UTC(2030, 0, 1)) };
    expect((await verify(signed, late)).code).toBe(0);
    const refused = await verdict([...signed, '--tolerance', '5m'], late);
    expect(refused).toMatchObject({ exit: 1, code: 'too_old', secret: 'webhook', secretIndex: 0 });
    expect((await verify([...signed, '--tolerance', '2m'])).code).toBe(0);
    expect((await verify([...signed, '--tolerance', '119'])).code).toBe(1);
  });

  it.each([
    ['2026-01-15T11:57:00Z', '5m', 0, 'ahead by a minute'],
    ['2026-01-15T11:56:59Z', '5m', 1, 'ahead by more than a minute'],
    ['2026-01-15T11:57:30Z', '30s', 0, 'ahead by the tolerance'],
    ['2026-01-15T11:57:29Z', '30s', 1, 'ahead by more than a small tolerance'],
    ['2026-01-15T13:03:00+01:00', '5m', 0, 'in another zone'],
  ])('at %s with %s is %i: %s', async (at, tolerance, exit) => {
    const found = await verdict([...signed, '--at', at, '--tolerance', tolerance]);
    expect(found.exit).toBe(exit);
    if (exit === 1) expect(found.code).toBe('too_new');
  });

  it('a mismatch is a mismatch, however old', async () => {
    const { code } = await verdict([...signed, '--tolerance', '1s'], { stdin: 'else' });
    expect(code).toBe('mismatch');
  });

  it('a timestamp that is ahead is said to be', async () => {
    expect((await verify([...signed, '--at', '2026-03-15T12:00:00Z'])).err).toContain(', 59 days old');
    expect((await verify([...signed, '--at', '2026-01-15T11:57:00Z'])).err).toContain(
      ', its timestamp 1 min ahead',
    );
  });
});

describe('webhooks verify --headers-file reads headers as people keep them', () => {
  const signature = sign(body);
  const lines = [`X-Service-Timestamp: ${timestamp}`, `X-Service-Signature: ${signature}`];

  it.each<[string, string | Uint8Array]>([
    ['lines', `${lines.join('\n')}\n`],
    ['lines with CRLF', `Host: x\r\n${lines.join('\r\n')}\r\n\r\n`],
    [
      'names in any case, space around values',
      `x-service-TIMESTAMP:${timestamp}\nx-service-signature:\t ${signature}  \n`,
    ],
    ['a request line first', `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{"the":"body"}`],
    [
      'curl -D, with what came before',
      `HTTP/1.1 100 Continue\r\nX-Service-Timestamp: no\r\n\r\nHTTP/2 200 \r\n${lines.join('\r\n')}\r\n\r\n`,
    ],
    [
      'curl -v',
      `* Connected to x\n> POST /hook HTTP/1.1\n> Host: x\n${lines.map((line) => `> ${line}`).join('\n')}\n> \n{ [5 bytes data]\n`,
    ],
    ['a folded line', `X-Service-Timestamp:\n ${timestamp}\n${lines[1]}\n`],
    [
      'a JSON object',
      JSON.stringify({ 'x-service-timestamp': timestamp, 'X-Service-Signature': [signature] }),
    ],
    [
      'an event of Lambda',
      JSON.stringify(
        { headers: { 'x-service-timestamp': timestamp, 'x-service-signature': signature }, body: 'x' },
        null,
        2,
      ),
    ],
    [
      'a list of pairs',
      JSON.stringify([
        ['X-Service-Timestamp', timestamp],
        ['X-Service-Signature', signature],
      ]),
    ],
    [
      'a list as in HAR files',
      JSON.stringify({
        headers: [
          { name: 'X-Service-Timestamp', value: timestamp },
          { name: 'X-Service-Signature', value: signature },
        ],
      }),
    ],
    ['UTF-16, as PowerShell writes', Buffer.from(`\ufeff${lines.join('\r\n')}\r\n`, 'utf16le')],
    ['UTF-8 with a mark', `\ufeff${lines.join('\r\n')}\r\n`],
  ])('%s', async (_what, text) => {
    expect(await verify(['--headers-file', 'h'], { files: { h: text } })).toMatchObject({ code: 0 });
  });

  it('from standard input, where the body is a file', async () => {
    const settings = { stdin: `${lines.join('\n')}\n`, files: { b: body } };
    expect((await verify(['--headers-file', '-', '--body-file', 'b'], settings)).code).toBe(0);
  });

  it.each<[string, string, RegExp]>([
    ['a line that is none', `${lines[0]}\nX-Service-Signature ${secret}\n`, /line 2 is not a header/],
    ['nothing', '\n\n', /no headers in it/],
    ['broken JSON', '{"a":', /not JSON/],
    ['other JSON', '[1, 2]', /not of headers/],
    ['a body by mistake', 'x'.repeat(2_000_000), /larger than any headers/],
  ])('%s is 64', async (_what, text, message) => {
    const { code, out, err } = await verify(['--headers-file', 'h'], { files: { h: text } });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain(secret);
  });

  it('takes the names that the vendor has', async () => {
    const h = `X-Acme-Time: ${timestamp}\nX-Acme-Sig: ${signature}\n`;
    const named = ['--timestamp-header', 'x-acme-time', '--signature-header', 'X-ACME-SIG'];
    expect((await verify(['--headers-file', 'h', ...named], { files: { h } })).code).toBe(0);
    expect(await verdict(['--headers-file', 'h'], { files: { h } })).toMatchObject({
      code: 'missing_header',
    });
    const bad = await verify(['--headers-file', 'h', '--timestamp-header', 'a b'], { files: { h } });
    expect(bad.code).toBe(64);
  });
});

describe('webhooks verify --request-file reads a captured request', () => {
  const head = `POST /hook?x=1 HTTP/1.1\r\nHost: x\r\nX-Service-Timestamp: ${timestamp}\r\nX-Service-Signature: ${sign(body)}\r\n`;
  const length = Buffer.byteLength(body);
  const bytes = Buffer.from(body);
  const chunked = (...parts: Uint8Array[]) =>
    Buffer.concat([
      Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`),
      ...parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
      Buffer.from('0\r\n\r\n'),
    ]);

  it.each<[string, string | Uint8Array]>([
    ['without a length: the rest of the file', `${head}\r\n${body}`],
    ['with LF', `${head}\r\n${body}`.replaceAll('\r\n', '\n')],
    ['without a request line', `${head}\r\n${body}`.replace(/^.*\r\n/, '')],
    ['with its length', `${head}Content-Length: ${length}\r\n\r\n${body}`],
    [
      'with its length, and what an editor put behind it',
      `${head}content-length:${length}\r\n\r\n${body}\n\n`,
    ],
    ['in one chunk', chunked(bytes)],
    ['in many chunks', chunked(...Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)))],
    [
      'with extensions and trailers',
      Buffer.from(
        `${head}transfer-encoding: gzip, Chunked\r\n\r\n${length.toString(16).toUpperCase()} ;a=b\r\n${body}\r\n0\r\nX-Trailer: 1\r\n\r\n`,
      ),
    ],
    ['with chunks that were decoded already', `${head}Transfer-Encoding: chunked\r\n\r\n${body}`],
  ])('%s', async (_what, file) => {
    expect(await verdict(['--request-file', 'r'], { files: { r: file } })).toMatchObject({
      exit: 0,
      bytes: length,
    });
    expect(await verdict(['--request-file', '-'], { stdin: file })).toMatchObject({ exit: 0, bytes: length });
  });

  it('an empty body, and a large one', async () => {
    for (const content of [new Uint8Array(), Buffer.alloc(2_000_000, 'x\n')]) {
      const signature = sign(content);
      const start = `POST / HTTP/1.1\nX-Service-Timestamp: ${timestamp}\nX-Service-Signature: ${signature}\n`;
      const files = {
        r: Buffer.concat([Buffer.from(`${start}\n`), content]),
        l: Buffer.concat([Buffer.from(`${start}Content-Length: ${content.length}\n\n`), content]),
      };
      for (const file of ['r', 'l']) {
        expect(await verdict(['--request-file', file], { files })).toMatchObject({
          exit: 0,
          bytes: content.length,
        });
      }
    }
  });

  it('what was left out is said', async () => {
    const behind = { r: `${head}Content-Length: ${length}\r\n\r\n${body}\n` };
    expect((await verify(['--request-file', 'r'], { files: behind })).err).toMatch(/behind the \d+ bytes/);
    const decoded = { r: `${head}Transfer-Encoding: chunked\r\n\r\n${body}` };
    expect((await verify(['--request-file', 'r'], { files: decoded })).err).toMatch(/has no chunks/);
  });

  it.each<[string, string, RegExp]>([
    ['without a blank line', head, /no blank line/],
    ['without an end to its headers', `${head}${'X-A: b\r\n'.repeat(50_000)}`, /no blank line/],
    ['with a line that is no header', `POST / HTTP/1.1\r\nwhat\r\n\r\n${body}`, /line 2 is neither/],
    ['that is cut off', `${head}Content-Length: ${length + 5}\r\n\r\n${body}`, /ends 5 bytes before/],
    ['with two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`, /not one number/],
    ['with a length that is none', `${head}Content-Length: -1\r\n\r\n${body}`, /not one number/],
    [
      'with chunks that are cut off',
      `${head}Transfer-Encoding: chunked\r\n\r\n99\r\n${body}`,
      /bytes of a chunk are missing/,
    ],
    [
      'without the last chunk',
      `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n`,
      /size of a chunk is missing/,
    ],
    [
      'with a chunk that is too long',
      `${head}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`,
      /longer than its size/,
    ],
  ])('%s is 64', async (_what, r, message) => {
    const { code, out, err } = await verify(['--request-file', 'r'], { files: { r } });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
  });
});

describe('webhooks verify: a mistake in the call is 64 and says what to write', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['no headers', [], /--timestamp <t> and --signature <s>, or --headers-file <file>, or --request-file/],
    ['a timestamp alone', ['--timestamp', timestamp], /give --signature <s>/],
    ['a signature alone', ['--signature', sign(body)], /give --timestamp <t>/],
    ['flags and a file', [...signed, '--headers-file', 'h'], /exclude each other/],
    ['flags and a request', [...signed, '--request-file', 'r'], /exclude each other/],
    ['headers and a request', ['--headers-file', 'h', '--request-file', 'r'], /exclude each other/],
    ['a body and a request', ['--body-file', 'b', '--request-file', 'r'], /has its body in it/],
    ['everything on standard input', ['--headers-file', '-'], /both come from standard input/],
    [
      'a body that is not there',
      [...signed, '--body-file', 'gone'],
      /gone cannot be read: there is no such file/,
    ],
    ['headers that are not there', ['--headers-file', 'gone'], /gone cannot be read/],
    ['an empty name', [...signed, '--body-file', ''], /--body-file is empty/],
    ['a tolerance of 0', [...signed, '--tolerance', '0'], /above 0/],
    ['a tolerance that is none', [...signed, '--tolerance', 'long'], /not a duration/],
    ['a time without a zone', [...signed, '--at', '2026-01-15T12:00:00'], /RFC 3339/],
    ['a secret', [...signed, '--secret', secret], /RUNGATE_WEBHOOK_SECRET/],
  ])('%s', async (_what, argv, message) => {
    const { code, out, err } = await verify(argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain(secret);
  });
});

describe('secrets', () => {
  it.each([{}, { RUNGATE_WEBHOOK_SECRET: '' }, { RUNGATE_WEBHOOK_SECRET: ' \n \n' }])(
    'none is 78, and the message names the variables: %j',
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

  it('a file that cannot be read is 78', async () => {
    const { code, err } = await verify(signed, { env: { RUNGATE_WEBHOOK_SECRET_FILE: '/gone' } });
    expect(code).toBe(78);
    expect(err).toContain('RUNGATE_WEBHOOK_SECRET_FILE');
  });

  it('are never shown, not each of several either: in an error, a diagnosis or a verdict', async () => {
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
  it('names the cause and what to do, and stays 1', async () => {
    const { code, out, err } = await verify([...signed, '--diagnose'], { stdin: `${body}\n` });
    expect(code).toBe(1);
    expect(out).toContain('cause\tnewline_added\n');
    expect(err).toMatch(
      /^not authentic: [\s\S]*^cause: a line break was added at the end of the body \(newline_added\)$\n {2}→ /m,
    );
  });

  it('as JSON, with every cause of several', async () => {
    const spaced = '{"a": 1, "b": [1, 2]}';
    const given = ['--timestamp', timestamp, '--signature', sign(spaced), '--diagnose'];
    const found = await verdict(given, { stdin: '{"a":1,"b":[1,2]}\n' });
    expect(found).toMatchObject({ exit: 1, code: 'mismatch', diagnosis: { tried: true } });
    expect(found.diagnosis.causes.map((cause: { id: string }) => cause.id)).toEqual([
      'json_spaced',
      'newline_added',
    ]);
    for (const cause of found.diagnosis.causes)
      expect(Object.keys(cause)).toEqual(['id', 'sentence', 'remedy']);
    expect(found.err).toContain('all of these together');
  });

  it.each([
    ['bare hex', timestamp, sign(body).slice(7), 'malformed_signature', 'signature_prefix'],
    [
      'Unix seconds',
      '1768478280',
      sign(body, secret, '1768478280'),
      'malformed_timestamp',
      'timestamp_refused',
    ],
  ])('explains what is malformed: %s', async (_what, time, signature, code, id) => {
    const found = await verdict(['--timestamp', time, '--signature', signature, '--diagnose']);
    expect(found).toMatchObject({ exit: 1, code, diagnosis: { causes: [{ id }] } });
  });

  it('says so when nothing explains it, and what that means', async () => {
    const { code, out, err } = await verify([...signed, '--diagnose'], { stdin: 'else' });
    expect(code).toBe(1);
    expect(out).not.toContain('cause');
    expect(err).toMatch(/no cause found: .*the secret is another one/);
  });

  it('says that a body is too large to diagnose', async () => {
    const stdin = Buffer.alloc(11 * 1024 * 1024);
    const found = await verdict([...signed, '--diagnose'], { stdin });
    expect(found).toMatchObject({ exit: 1, bytes: stdin.length, diagnosis: { causes: [], tried: false } });
    expect(found.err).toMatch(/larger than 10 MiB/);
  });

  it('has nothing to say of what is authentic, too old or without its headers', async () => {
    expect(await verdict([...signed, '--diagnose'])).not.toHaveProperty('diagnosis');
    expect(await verdict([...signed, '--diagnose', '--tolerance', '1s'])).not.toHaveProperty('diagnosis');
    const files = { h: 'Host: x\n' };
    expect(await verdict(['--headers-file', 'h', '--diagnose'], { files })).not.toHaveProperty('diagnosis');
  });
});

describe('webhooks sign', () => {
  const sign_ = (argv: readonly string[] = [], settings: Settings = {}) =>
    cli(['webhooks', 'sign', ...argv], { env, stdin: body, clock: fakeClock(), ...settings });

  it('prints the two headers, as lines that curl -H @- takes', async () => {
    for (const isTTY of [false, true]) {
      const { code, out, err } = await sign_(['--timestamp', timestamp], { isTTY });
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toBe(`X-Service-Timestamp: ${timestamp}\nX-Service-Signature: ${sign(body)}\n`);
    }
  });

  it('as JSON', async () => {
    const { out } = await sign_(['--timestamp', timestamp, '--json']);
    expect(JSON.parse(out)).toEqual({
      schemaVersion: 1,
      timestamp,
      signature: sign(body),
      headers: { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': sign(body) },
    });
  });

  it('now, of a file, with the names of the vendor; and verify takes it', async () => {
    const files = { b: 'x' };
    const names = ['--timestamp-header', 'X-Acme-Time', '--signature-header', 'X-Acme-Sig'];
    const { out } = await sign_(['--body-file', 'b', ...names], { files });
    expect(out).toMatch(/^X-Acme-Time: 2026-01-15T12:00:00.000Z\nX-Acme-Sig: sha256=/);
    const both = { h: out, ...files };
    const argv = ['--headers-file', 'h', '--body-file', 'b', '--tolerance', '1s', ...names];
    expect((await verify(argv, { files: both })).code).toBe(0);
  });

  it('with the tenant secret if there is one, else the first of the webhook', async () => {
    const two = { RUNGATE_WEBHOOK_SECRET: `${secret}\nolder-secret` };
    expect((await sign_(['--timestamp', timestamp], { env: two })).out).toContain(sign(body));
    const tenant = { ...two, RUNGATE_TENANT_SECRET: 'tenant-secret-1' };
    expect((await sign_(['--timestamp', timestamp], { env: tenant })).out).toContain(
      sign(body, 'tenant-secret-1'),
    );
  });

  it.each([['now'], ['2026-01-15T12:00:00'], ['1768478280'], ['']])(
    'refuses the timestamp %j',
    async (time) => {
      expect(await sign_(['--timestamp', time])).toMatchObject({ code: 64, out: '' });
    },
  );
});

describe('help', () => {
  it.each(['verify', 'sign', 'listen'])(
    'of %s fits a screen and says where secrets come from',
    async (name) => {
      const { code, out } = await cli(['webhooks', name, '--help']);
      expect(code).toBe(0);
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(out).toContain('RUNGATE_TENANT_SECRET_FILE');
    },
  );
});
