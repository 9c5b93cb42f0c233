import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli } from '../../cli/harness.ts';

/** A URL at which nothing is listening. */
const at = 'http://127.0.0.1:1';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-logout-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (argv: string[], stdin = '', more: Record<string, string> = {}) =>
  cli(argv, { stdin, env: { RUNGATE_CONFIG_DIR: folder, ...more } });
const kept = () => JSON.parse(readFileSync(join(folder, 'profiles.json'), 'utf8')).profiles;

async function logInWithAll(...flags: string[]): Promise<void> {
  for (const kind of ['--api-key', '--token'])
    await run(['login', kind, '--api-url', at, ...flags], 'k3y-one');
  await run(['login', '--webhook-secret', ...flags], 'one\ntwo\n');
  await run(['login', '--tenant-secret', ...flags], 'three\n');
}

describe('logout', () => {
  it('removes every secret from the profile and leaves its settings', async () => {
    await logInWithAll();
    const { code, out, err } = await run(['logout']);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain(
      'removed the API key, the bearer token, the webhook secret, and the tenant secret from profile default',
    );
    expect(err).toContain('the API key stays valid until you delete it: rungate keys delete <id>');
    expect(kept()).toEqual({ default: { settings: { apiUrl: at }, secrets: {} } });
  });

  it.each([
    [['--token'], ['apiKey', 'webhookSecrets', 'tenantSecret']],
    [
      ['--webhook-secret', '--tenant-secret'],
      ['apiKey', 'token'],
    ],
  ])('with %j removes only these secrets', async (flags, left) => {
    await logInWithAll();
    expect((await run(['logout', ...flags])).code).toBe(0);
    expect(Object.keys(kept().default.secrets).sort()).toEqual([...left].sort());
  });
});
