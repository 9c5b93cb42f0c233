import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fault } from '../../../src/mock/server.ts';
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
async function channels(fault: Fault, options: readonly string[], settings: Settings = {}) {
  on.mock.faults.clear();
  on.mock.faults.add(fault);
  const journal = join(folder, 'journal');
  const files: Record<string, string> = {};
  const env = { ...given, ...ci, RUNGATE_JOURNAL: journal };
  const { out, err } = await on.with({ ...settings, env, files })(
    ...trigger,
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
    { numRuns: 25 },
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

test.each(['pass', 'passed', '": "', 'schema', '"gate":', 'true', 'false', 'null'])(
  'the result is still JSON with the right verdict if the secret is %j',
  async (secret) => {
    const { out, code } = await on.with({ env: { RUNGATE_WEBHOOK_SECRET: secret } })(
      ...[...trigger, '--wait', '--json'],
    );
    const result = JSON.parse(out);
    expect(code).toBe(0);
    expect(result).toMatchObject({
      exitCode: 0,
      runs: [{ verdict: 'passed', gate: 'pass', reattached: false }],
    });
  },
);
