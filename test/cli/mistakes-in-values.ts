import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { trigger } from './harness.ts';
import { env, type Mistake, project } from './mistake.ts';

const pem = (name: string) => readFileSync(new URL(`../transport/tls/${name}`, import.meta.url), 'utf8');

const server = createServer({ key: pem('expired.key'), cert: pem('expired.pem') });
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());
const tlsPort = () => (server.address() as AddressInfo).port;

const status = ['run', 'status', 'run_1'] as const;
const wait = [...trigger, '--wait'] as const;
const key = (value: string) => env({ RUNGATE_API_KEY: value });
const keyFile = (content: string | Uint8Array) => () => ({
  env: { RUNGATE_API_KEY: undefined, RUNGATE_API_KEY_FILE: '/run/key' },
  files: { '/run/key': content },
});
const caFile = (content: string | Uint8Array) => () => ({ files: { 'ca.pem': content } });
const trustingCa = [...status, '--ca-file', 'ca.pem'] as const;
const inUtf16 = (text: string) => new Uint8Array([0xff, 0xfe, ...Buffer.from(text, 'utf16le')]);
const der = Buffer.from(pem('ca.pem').replaceAll(/-----.*-----|\s/g, ''), 'base64');

/** Values of the wrong kind or form: copied with extra characters, from the wrong place, or from another shell. */
export const mistakesInValues: readonly Mistake[] = [
  { name: 'a key with the line break that echo adds', argv: status, world: key('rg_1234567890abcdef\n') },
  {
    name: 'a key file written by PowerShell',
    argv: status,
    world: keyFile(inUtf16('rg_1234567890abcdef\r\n')),
  },
  {
    name: 'a key file that contains NAME=value',
    argv: status,
    world: keyFile('RUNGATE_API_KEY=rg_of_another_service'),
    sent: 1,
  },
  {
    name: 'the key itself in place of the path of its file',
    argv: status,
    world: env({ RUNGATE_API_KEY: undefined, RUNGATE_API_KEY_FILE: `rg_${'1234567890abcdef'.repeat(3)}` }),
  },
  { name: 'a key in quotes, from an env file', argv: status, world: key('"rg_of_another_service"'), sent: 1 },
  {
    name: 'Bearer in front of the token',
    argv: ['env', 'list'],
    world: env({ RUNGATE_TOKEN: 'Bearer rg_of_another_service' }),
  },
  {
    name: 'an expression of a GitHub workflow in a file that GitHub does not read',
    argv: status,
    world: key('${{ secrets.RUNGATE_API_KEY }}'),
  },
  {
    name: 'an API key for the management of API keys',
    argv: ['keys', 'create', '--name', 'ci'],
    world: env({ RUNGATE_TOKEN: undefined }),
  },
  { name: 'a URL in quotes', argv: status, world: env({ RUNGATE_API_URL: '"https://service.example.com"' }) },
  {
    name: 'a URL with a variable that was not replaced',
    argv: status,
    world: env({ RUNGATE_API_URL: 'https://$HOST' }),
  },
  { name: 'a wrong port in --api-url', argv: [...status, '--api-url', 'http://127.0.0.1:1'] },
  {
    name: 'an expired certificate',
    argv: trustingCa,
    world: () => ({
      env: { RUNGATE_API_URL: `https://localhost:${tlsPort()}` },
      files: { 'ca.pem': pem('expired.pem') },
    }),
  },
  {
    name: 'http:// for a port that expects TLS',
    argv: status,
    world: () => ({ env: { RUNGATE_API_URL: `http://localhost:${tlsPort()}` } }),
  },
  { name: 'a CA file in DER', argv: trustingCa, world: caFile(der) },
  {
    name: 'https:// for a proxy that uses http',
    argv: status,
    world: (on) => ({
      env: {
        RUNGATE_API_URL: 'https://service.example.com',
        HTTPS_PROXY: on.mock.url.replace('http:', 'https:'),
      },
    }),
  },
  { name: 'an unset variable in place of a run id', argv: ['run', 'wait', ''] },
  { name: 'an unset variable without quotes before another option', argv: [...trigger, '--ref', '--wait'] },
  {
    name: 'an unset variable in quotes as the value of a field',
    argv: ['env', 'update', 'staging', '--version', ''],
  },
  { name: 'a long dash from a word processor', argv: ['run', 'trigger', '–-project', 'shop'] },
  { name: "PowerShell's line continuation in another shell", argv: [...trigger, '`'] },
  {
    name: 'an option with the name of the field in the request',
    argv: ['run', 'trigger', '--projectSlug', 'shop'],
  },
  { name: 'an abbreviated option', argv: [...wait, '--env', 'staging'] },
  {
    name: 'an option for a field that is not in the API',
    argv: ['webhooks', 'create', '--url', 'https://hooks.example.com'],
  },
  {
    name: 'a policy that lets a timeout pass, in the project file',
    argv: wait,
    world: project('{ "on": { "timeout": "pass" } }'),
  },
  {
    name: 'a URL without https:// in the project file',
    argv: wait,
    world: project('{ "apiUrl": "service.example.com" }'),
  },
  { name: 'a date in words', argv: ['observations', 'list', 'p1', '--created-after', 'yesterday'] },
  { name: 'an idempotency key with a space', argv: [...trigger, '--idempotency-key', 'build 12'] },
  { name: 'the path before the method', argv: ['api', '/api/environments', 'GET'] },
  {
    name: 'a webhook of a service with other header names',
    argv: ['webhooks', 'verify', '--request-file', 'r'],
    world: () => ({
      env: { RUNGATE_WEBHOOK_SECRET: 'whsec_0123456789' },
      files: { r: 'X-Acme-Timestamp: 2026-11-20T12:00:00Z\r\n\r\n{}' },
    }),
  },
  {
    name: 'no body to verify',
    argv: [
      'webhooks',
      'verify',
      '--timestamp',
      '2026-11-20T12:00:00Z',
      '--signature',
      `sha256=${'0'.repeat(64)}`,
    ],
    world: env({ RUNGATE_WEBHOOK_SECRET: 'whsec_0123456789' }),
  },
  { name: 'a list with spaces', argv: ['config', 'set', 'tags', 'smoke', 'nightly'] },
  { name: 'a variable as NAME=value', argv: ['env', 'vars', 'create', 'staging', 'A=1'] },
  { name: 'a command of gh', argv: ['run', 'view', 'run_1'] },
  { name: 'a list that the service does not have', argv: ['run', 'list'] },
  { name: 'the login command of gh', argv: ['auth', 'login'] },
  { name: 'the output format of kubectl', argv: ['run', 'status', 'run_1', '-o', 'json'] },
];
