import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StopSignal } from '../../../src/errors.ts';
import { asked, type Result, type Settings, type Stage, stage } from '../../cli/harness.ts';
import { until } from '../../until.ts';

const token = 'rg_live_0123456789%abcdef';
const response = `{"id":"key_7","name":"ci","apiKey":"${token}","created":12345678901234567890}`;

let on: Stage;
let folder: string;
beforeEach(async () => {
  on = await stage();
  folder = mkdtempSync(join(tmpdir(), 'rungate-keys-'));
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const create = ['keys', 'create', '--name', 'ci'] as const;
const respondWith = (text: string) => on.mock.faults.add({ kind: 'reply', text, endpoint: 'keys.create' });

async function created(settings: Settings = {}, ...more: string[]): Promise<Result> {
  respondWith(response);
  return on.with(settings)(...create, ...more);
}

function times(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Returns the body of the first request. */
function sent(): unknown {
  return JSON.parse(String(on.mock.requests[0]?.body));
}

describe('keys create', () => {
  it('prints the token, and nothing else, on standard output', async () => {
    const { code, out, err } = await created();
    expect({ code, out }).toEqual({ code: 0, out: `${token}\n` });
    expect(err).toBe('created the API key "ci" (id key_7): its token is shown only once\n');
  });

  it.each(['json', 'ndjson'])(
    'prints the unchanged response with --format %s, and the token once',
    async (format) => {
      const { code, out, err } = await created({}, '--format', format);
      expect(code).toBe(0);
      expect(out).toContain('12345678901234567890');
      expect(JSON.parse(out)).toMatchObject({ id: 'key_7', apiKey: token });
      expect(times(out + err, token)).toBe(1);
    },
  );

  it('prints the whole token, even if it contains another secret', async () => {
    const { out } = await created({ env: { RUNGATE_API_KEY: 'rg_live' } });
    expect(out).toBe(`${token}\n`);
    const json = await created({ env: { RUNGATE_API_KEY: 'rg_live' } }, '--json');
    expect(JSON.parse(json.out).apiKey).toBe(token);
  });

  it('reports that the token is lost if standard output is closed', async () => {
    const { code, out, err } = await created({ closed: true });
    expect({ code, out }).toEqual({ code: 78, out: '' });
    expect(err).toContain(
      'the API key "ci" (id key_7) was created, but its token could not be written to standard output',
    );
    expect(err).not.toContain(token);
  });

  it.each([
    ['an escape sequence', '\u001b[2Jlive_token'],
    ['letters that a header cannot contain', 'schlüssel_token'],
  ])('refuses a token with %s, and does not print it', async (_what, odd) => {
    respondWith(JSON.stringify({ id: 'key_7', apiKey: odd }));
    const { code, out, err } = await on.rungate(...create);
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).not.toContain(odd);
    expect(err).toMatch(/"ci" \(id key_7\) was created, but its token cannot be sent in a header/);
  });
});

describe('a request for keys', () => {
  it('has the scopes in the given order, including unknown ones', async () => {
    await created({}, '--scope', 'ci:trigger', '--scope', 'new:scope');
    expect(sent()).toEqual({ name: 'ci', scopes: ['ci:trigger', 'new:scope'] });
    expect(on.mock.requests[0]?.headers.authorization).toBe(`Bearer ${on.mock.token}`);
    expect(on.mock.requests[0]?.headers['x-api-key']).toBeUndefined();
  });

  it('has no scopes field without --scope', async () => {
    await created();
    expect(sent()).toEqual({ name: 'ci' });
  });

  it.each([
    ['no name', ['keys', 'create']],
    ['an empty name', ['keys', 'create', '--name', '']],
  ])('is not sent with %s', async (_what, argv) => {
    const { code, out } = await on.rungate(...argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(on.mock.requests).toEqual([]);
  });

  it.each([
    ['create', create],
    ['delete', ['keys', 'delete', 'key_7', '--yes']],
  ])('is not sent if only an API key is configured: keys %s', async (_what, argv) => {
    const { code, out, err } = await on.with({ env: { RUNGATE_TOKEN: undefined as never } })(...argv);
    expect({ code, out }).toEqual({ code: 6, out: '' });
    expect(err).toContain('an API key cannot manage API keys');
    expect(err).toContain('RUNGATE_TOKEN');
    expect(on.mock.requests).toEqual([]);
  });
});

describe('--output-file', () => {
  const path = () => join(folder, 'token');
  const fileAt = (at: string) => {
    writeFileSync(at, 'mine', { mode: 0o644 });
    return at;
  };
  const withFile = (settings: Settings = {}, ...more: string[]) =>
    created(settings, '--output-file', path(), ...more);

  it('writes the token to a file that only its owner can read, and nothing to stdout', async () => {
    const { code, out, err } = await withFile();
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toBe('created the API key "ci" (id key_7): its token is only in the file\n');
    expect(readFileSync(path(), 'utf8')).toBe(`${token}\n`);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['token']);
  });

  it('prints the rest of the response with --json, with every digit and without the token', async () => {
    const { out, err } = await withFile({}, '--json');
    expect(Object.keys(JSON.parse(out))).toEqual(['id', 'name', 'created']);
    expect(out).toContain('12345678901234567890');
    expect(out + err).not.toContain(token);
  });

  it.each<[string, (at: string) => unknown]>([
    ['a file', fileAt],
    ['a directory', (at) => mkdirSync(at)],
    ['a symbolic link to a file', (at) => symlinkSync(fileAt(`${at}2`), at)],
  ])('refuses a path that is already %s, before it sends anything', async (_what, make) => {
    make(path());
    const before = readdirSync(folder);
    const { code, out, err } = await withFile();
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(`${path()} already exists`);
    expect(on.mock.requests).toEqual([]);
    expect(readdirSync(folder)).toEqual(before);
    if (existsSync(path()) && statSync(path()).isFile()) expect(readFileSync(path(), 'utf8')).toBe('mine');
  });

  it('leaves no file if the service creates no key', async () => {
    on.mock.faults.add({ kind: 'status', status: 422, endpoint: 'keys.create' });
    expect((await on.rungate(...create, '--output-file', path())).code).toBe(5);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('prints the token in the JSON on stdout if it cannot write the file with --json', async () => {
    const full = () => ({
      write() {
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      },
      close() {},
    });
    const { code, out, err } = await withFile({ createSecretFile: full }, '--json');
    expect(code).toBe(78);
    expect(JSON.parse(out).apiKey).toBe(token);
    expect(JSON.parse(err).error.code).toBe('config');
    expect(times(out + err, token)).toBe(1);
  });
});

describe('the CI command that masks a new token', () => {
  it.each([
    ['GitHub Actions', { GITHUB_ACTIONS: 'true' }, '::add-mask::rg_live_0123456789%25abcdef\n'],
    ['Azure Pipelines', { TF_BUILD: 'True' }, '##vso[task.setsecret]rg_live_0123456789%AZP25abcdef\n'],
  ])('is printed before the token on %s', async (_ci, env, line) => {
    const { out, err } = await created({ env }, '--quiet');
    expect({ out, err }).toEqual({ out: `${token}\n`, err: line });
    const filed = await created({ env }, '--quiet', '--output-file', join(folder, 'token'));
    expect(filed).toEqual({ code: 0, out: '', err: line });
  });
});

describe('a key that may exist although its token was not received', () => {
  const advice = /a key named "ci" may exist now.*rungate keys delete <id>/;

  it.each([
    ['the connection breaks', { kind: 'reset' } as const, 7],
    ['the response is cut off', { kind: 'reply', text: `{"apiKey":"${token}` } as const, 5],
    ['the service fails', { kind: 'status', status: 500 } as const, 5],
    ['the response has no token', { kind: 'reply', text: '{"id":"key_7"}' } as const, 5],
  ])('is reported after one request if %s', async (_what, fault, expected) => {
    on.mock.faults.add({ ...fault, endpoint: 'keys.create' });
    const { code, out, err } = await on.rungate(...create);
    expect({ code, out }).toEqual({ code: expected, out: '' });
    expect(err).toMatch(advice);
    expect(asked(on.mock)).toEqual(['keys.create']);
  });

  it('is not assumed after a rate limit: the request is retried', async () => {
    on.mock.faults.add({
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '2' },
      endpoint: 'keys.create',
    });
    expect(await created()).toMatchObject({ code: 0, out: `${token}\n` });
  });

  it('is reported if a signal stops the request, which leaves no file', async () => {
    on.mock.faults.add({ kind: 'stall-headers', endpoint: 'keys.create' });
    const stopping: Settings = {
      onStop: (stop: (signal: StopSignal) => void) => {
        void until(() => on.mock.requests.length > 0).then(() => stop('SIGTERM'));
      },
    };
    const argv = [...create, '--output-file', join(folder, 'token')];
    const { code, out, err } = await on.with(stopping)(...argv);
    expect({ code, out }).toEqual({ code: 143, out: '' });
    expect(err).toMatch(advice);
    expect(readdirSync(folder)).toEqual([]);
  });
});
