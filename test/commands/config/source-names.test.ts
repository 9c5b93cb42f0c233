import { expect, it } from 'vitest';
import { cli } from '../../cli/harness.ts';

const refused = 'http://127.0.0.1:1';
const status = ['run', 'status', 'r'];
const credential = { RUNGATE_API_KEY: 'rg_1234567890abcdef' };

it.each([
  ['a flag', [...status, '--api-url', refused], { env: credential }, 'in --api-url,'],
  ['a variable', status, { env: { ...credential, RUNGATE_API_URL: refused } }, 'in RUNGATE_API_URL,'],
  [
    'a project file',
    status,
    { env: credential, cwd: '/repo', files: { '/repo/.rungate.json': `{"apiUrl": "${refused}"}` } },
    'in apiUrl in /repo/.rungate.json,',
  ],
])('a hint names the source of the URL: %s', async (_source, argv, settings, named) => {
  const { code, err } = await cli(argv, settings);
  expect(code).toBe(7);
  expect(err).toContain(`check the host and port ${named}`);
});

it('an error about an invalid URL names its source', async () => {
  const { code, err } = await cli([...status, '--api-url', 'service.example.com'], { env: credential });
  expect(code).toBe(64);
  expect(err).toContain('set --api-url to a URL like https://service.example.com');
});

const keyFile = { RUNGATE_API_URL: refused, RUNGATE_API_KEY_FILE: '/run/key' };

it('a secret in RUNGATE_API_KEY_FILE is never shown', async () => {
  const secret = 'rg_1234567890abcdef1234567890abcdef12345678';
  const { code, err } = await cli(status, { env: { ...keyFile, RUNGATE_API_KEY_FILE: secret } });
  expect(code).toBe(78);
  expect(err).not.toContain(secret);
});
