import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fault } from '../../../src/mock/server.ts';
import { readPrivateKey } from '../../../src/receipt/keys.ts';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';

const apiKey = 'rg_Zk3J9aQ7Lm2XvT5bNc8RfW1dHs6Gy4PeUo0Ki';
/** The secrets that a gate gets and must not show. */
const secrets = {
  apiKey,
  token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlLW9mLW5vaXNl',
  webhook: 'whsec_4f6e6520666f7220746865206e6577',
  tenant: 'tenant-signing-Secret-0815',
  proxy: 'pr0xy-Pass_word',
} as const;

const given = {
  RUNGATE_TOKEN: secrets.token,
  RUNGATE_WEBHOOK_SECRET: secrets.webhook,
  RUNGATE_TENANT_SECRET: secrets.tenant,
  HTTPS_PROXY: `http://me:${encodeURIComponent(secrets.proxy)}@proxy.example.com:3128`,
};

const ci = {
  GITHUB_ACTIONS: 'true',
  GITHUB_OUTPUT: '/ci/output',
  GITHUB_STEP_SUMMARY: '/ci/summary',
  TF_BUILD: 'True',
};
const reports = ['--junit', '/r.xml', ...['json', 'md', 'env'].flatMap((end) => ['--report', `/r.${end}`])];

const json = (value: unknown) => JSON.stringify(value);
const always = { times: Number.POSITIVE_INFINITY } as const;
const read = { endpoint: 'run.status', ...always } as const;
const create = { endpoint: 'run.trigger', ...always } as const;
const failure = (parts: object) => ({ kind: 'status', ...read, ...parts }) as Fault;

/** The places in which a service or a proxy may send a secret back. */
const places: Readonly<Record<string, (text: string) => Fault>> = {
  'the body of an error that is text': (text) => failure({ status: 400, body: text }),
  'the error and the details': (text) => failure({ status: 400, body: { error: text, details: text } }),
  'the error, with every character escaped': (text) =>
    failure({
      status: 400,
      body: `{"error":"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
    }),
  'the title of a page': (text) => failure({ status: 400, body: `<html><title>${text}</title>` }),
  'the id of a request': (text) => failure({ status: 400, headers: { 'x-request-id': text } }),
  'the origin of a redirect': (text) =>
    failure({
      status: 302,
      headers: { location: `https://x${text.replaceAll(/[^\w.-]/g, '-')}.example.com/` },
    }),
  'the path of a redirect': (text) => ({
    kind: 'status',
    ...create,
    status: 302,
    headers: { location: `/${encodeURIComponent(text)}` },
  }),
  'a response that is not JSON': (text) => ({ kind: 'reply', ...read, text: `not JSON: ${text}` }),
  'the state of a run': (text) => ({ kind: 'reply', ...read, text: json({ state: text.slice(0, 200) }) }),
  'a state that is an object': (text) => ({
    kind: 'reply',
    ...read,
    text: json({ state: [text], [text]: 1 }),
  }),
  'a count': (text) => ({
    kind: 'reply',
    ...read,
    text: json({ state: 'completed', failed: text, blocked: 0 }),
  }),
  'the address of a run': (text) => ({
    kind: 'patch',
    ...read,
    merge: { appUrl: `https://app.example.com/${encodeURIComponent(text)}` },
  }),
  'the id of a run': (text) => ({
    kind: 'reply',
    ...create,
    text: json({ runId: text.replaceAll(/[^\w.-]/g, '-') }),
  }),
  'the names of fields': (text) => ({ kind: 'reply', ...create, text: json({ [text]: 1, ok: true }) }),
  'the address of a run that was created': (text) => ({
    kind: 'patch',
    ...create,
    merge: { appUrl: `https://app.example.com/${text}` },
  }),
};

const base64 = (text: string) => Buffer.from(text).toString('base64');
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  unchanged: (secret) => secret,
  'in lower case': (secret) => secret.toLowerCase(),
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'in base64': (secret) => Buffer.from(`me:${secret}`).toString('base64url'),
};

/** The length of the pieces of a secret, none of which may be shown in upper or lower case. */
const window = 8;

function pieces(secret: string): string[] {
  const texts = [
    secret,
    encodeURIComponent(secret),
    ...['', ' ', '  '].map((pad) => base64(pad + secret).slice(4, -4)),
  ];
  return texts.flatMap((text) =>
    Array.from({ length: text.length - window + 1 }, (_, at) => text.slice(at, at + window).toLowerCase()),
  );
}

let on: Stage;
let folder: string;
beforeEach(async () => {
  on = await stage({ apiKey });
  folder = mkdtempSync(join(tmpdir(), 'rungate-secrets-'));
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true });
});

/** Returns the text of every channel that a gate writes to, by name. */
async function channels(
  fault: Fault,
  options: readonly string[],
  { env: more, ...settings }: Settings = {},
  command: readonly string[] = trigger,
) {
  on.mock.faults.clear();
  on.mock.faults.add(fault);
  const journal = join(folder, 'journal');
  const files: Record<string, string> = {};
  const env = { ...given, ...ci, ...more };
  const { out, err } = await on.with({ ...settings, env, journal, files })(
    ...command,
    ...['--wait', '--timeout', '30s', '--verbose', ...reports, ...options],
  );
  let kept = '';
  try {
    kept = readFileSync(journal, 'utf8');
    rmSync(journal);
  } catch {
    // No run was started.
  }
  return { out, err, journal: kept, ...files };
}

const cases = Object.entries(places);

test.each(cases)('no channel shows eight characters of a secret that came in %s', async (_, fault) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(secrets)),
      fc.constantFrom(...Object.values(spellings)),
      fc.integer({ min: 0, max: 240 }),
      fc.constantFrom(['--json'], []),
      fc.boolean(),
      async (secret, spell, before, options, isTTY) => {
        const text = `${'-'.repeat(before)}${spell(secret)} and more`;
        const written = await channels(fault(text), options, { isTTY });
        const all = pieces(secret);
        for (const [channel, shown] of Object.entries(written)) {
          const folded = shown.toLowerCase();
          expect({ channel, leak: all.find((piece) => folded.includes(piece)) }).toEqual({ channel });
        }
      },
    ),
    { numRuns: 10 },
  );
});

/** The forms of a receipt key that are accepted: the ways to write its line breaks. */
const breaks = ['\n', '\r\n', ' ', '\\n', '\\r\\n', ''];
const receiptKeys = fc.record({
  seed: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  lineBreak: fc.constantFrom(...breaks),
  width: fc.constantFrom(64, 40, 16, 7, 1),
});
const der = (seed: Uint8Array) =>
  Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);

/** The spellings of a receipt key that a message or a service may repeat. */
const echoes: Readonly<Record<string, (value: string, seed: Uint8Array) => string>> = {
  ...spellings,
  'percent-encoded twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'in JSON': (value) => JSON.stringify(JSON.stringify(value)),
  'as its body': (_, seed) => der(seed).toString('base64'),
  'as bytes in hex': (_, seed) => der(seed).toString('hex'),
  'as its 32 bytes in hex': (_, seed) => Buffer.from(seed).toString('hex'),
  'as its 32 bytes in base64': (_, seed) => Buffer.from(seed).toString('base64'),
  'as its 32 bytes in base64url': (_, seed) => Buffer.from(seed).toString('base64url'),
};

test('no channel shows 16 characters of a receipt key, in whatever accepted form it is', async () => {
  await fc.assert(
    fc.asyncProperty(
      receiptKeys,
      fc.constantFrom(...Object.entries(echoes)),
      fc.constantFrom('the error and the details', 'a state that is an object', 'a count'),
      fc.constantFrom<(text: string) => string[]>(
        () => [...trigger],
        (text) => [...trigger, '--tag', text],
        (text) => ['run', 'trigger', '--project', text, '--process', text],
        (text) => [...trigger, `--${text}`],
      ),
      async ({ seed, lineBreak, width }, [name, spell], place, command) => {
        const body = der(seed).toString('base64');
        const inLines = body.replaceAll(new RegExp(`(.{${width}})(?!$)`, 'g'), `$1${lineBreak}`);
        const label = 'PRIVATE KEY-----';
        const value = `-----BEGIN ${label}${lineBreak}${inLines}${lineBreak}-----END ${label}`;
        expect(readPrivateKey(value).id).toHaveLength(64);
        const echo = spell(value, seed);
        const fault = places[place]?.(echo) ?? failure({});
        const written = await channels(fault, [], { env: { RUNGATE_RECEIPT_KEY: value } }, command(echo));
        const leaks = ['', ' ', '  ']
          .map((pad) => base64(pad + inLines).slice(4, -4))
          .concat(body, inLines, spell(inLines, seed))
          .flatMap((text) => {
            const length = 16 * Math.max(1, text.length / inLines.length);
            return Array.from({ length: text.length - length + 1 }, (_, at) => text.slice(at, at + length));
          });
        for (const [channel, shown] of Object.entries(written))
          expect({ name, channel, leak: leaks.find((piece) => shown.includes(piece)) }).toEqual({
            name,
            channel,
          });
      },
    ),
    { numRuns: 30 },
  );
});

test.each([
  ['config', 'get', apiKey],
  ['config', 'unset', apiKey],
  ['completion', apiKey],
  ['completion', 'bash', apiKey],
  ['mock', 'serve', '--seed', apiKey],
  ['webhooks', 'listen', '--port', apiKey],
])('does not repeat a secret in place of another argument: %s %s %s', async (...argv) => {
  const { code, err, out } = await on.with({ env: { RUNGATE_API_KEY: '' } })(...argv);
  expect(code).toBe(64);
  expect(err + out).not.toContain(apiKey.slice(3, 20));
});
