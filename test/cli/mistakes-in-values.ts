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
  {
    name: 'a key with the line break that echo adds',
    argv: status,
    world: key('rg_1234567890abcdef\n'),
    code: 78,
    says: ['RUNGATE_API_KEY has a line break as its last character', "printf '%s' does not"],
  },
  {
    name: 'a key file with an empty line at its end',
    argv: status,
    world: keyFile('rg_1234567890abcdef\n\n'),
    code: 78,
    says: ['has a line break as its last character'],
  },
  {
    name: 'a key file written by PowerShell',
    argv: status,
    world: keyFile(inUtf16('rg_1234567890abcdef\r\n')),
    code: 78,
    says: [
      'the file that RUNGATE_API_KEY_FILE names is UTF-16 text: /run/key',
      'Set-Content -Encoding ascii',
    ],
  },
  {
    name: 'a key file that contains NAME=value',
    argv: status,
    world: keyFile('RUNGATE_API_KEY=rg_of_another_service'),
    code: 6,
    says: ['remove the name and the =, and keep only the value'],
    sent: 1,
  },
  {
    name: 'the key itself in place of the path of its file',
    argv: status,
    world: env({ RUNGATE_API_KEY: undefined, RUNGATE_API_KEY_FILE: `rg_${'1234567890abcdef'.repeat(3)}` }),
    code: 78,
    says: [
      'cannot read the file that RUNGATE_API_KEY_FILE names\n',
      'put the secret itself into RUNGATE_API_KEY',
    ],
  },
  {
    name: 'the path of the file in place of the key',
    argv: status,
    world: key('/run/secrets/rungate'),
    code: 6,
    says: ['it looks like a path', '_FILE to the path'],
    sent: 1,
  },
  {
    name: 'a key in quotes, from an env file',
    argv: status,
    world: key('"rg_of_another_service"'),
    code: 6,
    says: ['remove the quotes, which are part of the value'],
    sent: 1,
  },
  {
    name: 'Bearer in front of the token',
    argv: ['env', 'list'],
    world: env({ RUNGATE_TOKEN: 'Bearer rg_of_another_service' }),
    code: 78,
    says: ['RUNGATE_TOKEN has a space as character 7', 'remove "Bearer": rungate adds it'],
  },
  {
    name: 'an expression of a GitHub workflow in a file that GitHub does not read',
    argv: status,
    world: key('${{ secrets.RUNGATE_API_KEY }}'),
    code: 78,
    says: ['has a space', 'a placeholder that was never replaced'],
  },
  {
    name: 'a variable in single quotes',
    argv: status,
    world: key('$API_KEY'),
    code: 6,
    says: ['a placeholder that was never replaced'],
    sent: 1,
  },
  {
    name: 'a key copied from a page that masks it',
    argv: status,
    world: key('********'),
    code: 6,
    says: ['it is masked; copy the secret itself'],
    sent: 1,
  },
  {
    name: 'the example key of the documentation',
    argv: status,
    world: key('your-api-key'),
    code: 6,
    says: ['the placeholder of an example'],
    sent: 1,
  },
  {
    name: 'an API key for the management of API keys',
    argv: ['keys', 'create', '--name', 'ci'],
    world: env({ RUNGATE_TOKEN: undefined }),
    code: 6,
    says: ['POST /api/settings/api-keys needs a bearer token', 'RUNGATE_TOKEN'],
  },
  {
    name: 'a URL in quotes',
    argv: status,
    world: env({ RUNGATE_API_URL: '"https://service.example.com"' }),
    code: 78,
    says: ['the URL of the service begins with a quote', 'remove the quotes from RUNGATE_API_URL'],
  },
  {
    name: 'a URL with a variable that was not replaced',
    argv: status,
    world: env({ RUNGATE_API_URL: 'https://$HOST' }),
    code: 78,
    says: ['check RUNGATE_API_URL', 'a placeholder that was not replaced'],
  },
  {
    name: 'a wrong port in --api-url',
    argv: [...status, '--api-url', 'http://127.0.0.1:1'],
    code: 7,
    says: ['check the host and port in --api-url'],
  },
  {
    name: 'an expired certificate',
    argv: trustingCa,
    world: () => ({
      env: { RUNGATE_API_URL: `https://localhost:${tlsPort()}` },
      files: { 'ca.pem': pem('expired.pem') },
    }),
    code: 7,
    says: [/the certificate of localhost:\d+ has expired/, "check this machine's clock"],
  },
  {
    name: 'http:// for a port that expects TLS',
    argv: status,
    world: () => ({ env: { RUNGATE_API_URL: `http://localhost:${tlsPort()}` } }),
    code: 7,
    says: ['use https:// instead of http:// in RUNGATE_API_URL'],
  },
  {
    name: 'an empty CA file',
    argv: trustingCa,
    world: caFile(''),
    code: 78,
    says: ['the CA file ca.pem is empty', '-----BEGIN CERTIFICATE-----'],
  },
  {
    name: 'a private key as the CA file',
    argv: trustingCa,
    world: caFile(pem('server.key')),
    code: 78,
    says: ['the CA file ca.pem contains a private key but no certificate'],
  },
  {
    name: 'a CA file in DER',
    argv: trustingCa,
    world: caFile(der),
    code: 78,
    says: ['the CA file ca.pem is not in PEM format', 'openssl x509 -inform der'],
  },
  {
    name: 'https:// for a proxy that uses http',
    argv: status,
    world: (on) => ({
      env: {
        RUNGATE_API_URL: 'https://service.example.com',
        HTTPS_PROXY: on.mock.url.replace('http:', 'https:'),
      },
    }),
    code: 7,
    says: ['through the proxy', 'check the port in HTTPS_PROXY'],
  },
  {
    name: 'the id of a run, printed by jq without -r',
    argv: ['run', 'wait', '"run_1"'],
    code: 64,
    says: ['<runId> has quotes around it', 'jq -r'],
  },
  {
    name: 'null in place of a run id',
    argv: ['run', 'wait', 'null'],
    code: 64,
    says: ['<runId> is null', 'the field that it was read from does not exist'],
  },
  {
    name: 'the whole JSON of a run in place of its id',
    argv: ['run', 'wait', '{"runId": "run_1"}'],
    code: 64,
    says: ['<runId> is JSON', 'jq -r .runId'],
  },
  {
    name: 'an unset variable in place of a run id',
    argv: ['run', 'wait', ''],
    code: 64,
    says: ['<runId> is empty', 'check the variable'],
  },
  {
    name: 'an unset variable without quotes before another option',
    argv: [...trigger, '--ref', '--wait'],
    code: 64,
    says: ['--ref has no value: the option --wait follows it', '--ref "$NAME"', '--ref=--wait'],
  },
  {
    name: 'an unset variable in quotes as the value of a field',
    argv: ['env', 'update', 'staging', '--version', ''],
    code: 64,
    says: ['--version is empty', '--json-field version=null'],
  },
  {
    name: 'a long dash from a word processor',
    argv: ['run', 'trigger', '–-project', 'shop'],
    code: 64,
    says: ['unexpected argument: "–-project"', 'type two hyphens'],
  },
  {
    name: "PowerShell's line continuation in another shell",
    argv: [...trigger, '`'],
    code: 64,
    says: ['unexpected argument: "`"', '\\ in sh, ^ in cmd or ` in PowerShell'],
  },
  {
    name: 'an option with the name of the field in the request',
    argv: ['run', 'trigger', '--projectSlug', 'shop'],
    code: 64,
    says: ["unknown option '--projectSlug'", 'did you mean --project?'],
  },
  {
    name: 'an abbreviated option',
    argv: [...wait, '--env', 'staging'],
    code: 64,
    says: ["unknown option '--env'", 'did you mean --environment?'],
  },
  {
    name: 'an option for a field that is not in the contract',
    argv: ['webhooks', 'create', '--url', 'https://hooks.example.com'],
    code: 64,
    says: ["unknown option '--url'", '--field url=<value>'],
  },
  {
    name: 'a policy that lets a timeout pass, in the project file',
    argv: wait,
    world: project('{ "on": { "timeout": "pass" } }'),
    code: 78,
    says: ['on: timeout cannot pass', 'set timeout to warn'],
  },
  {
    name: 'a URL without https:// in the project file',
    argv: wait,
    world: project('{ "apiUrl": "service.example.com" }'),
    code: 78,
    says: ['apiUrl: the URL of the service is not a URL', 'set apiUrl to a URL like https://'],
  },
  {
    name: 'a date in words',
    argv: ['observations', 'list', 'p1', '--created-after', 'yesterday'],
    code: 64,
    says: ['--created-after must be a date and time with a zone, not "yesterday"', '2026-01-31T12:00:00Z'],
  },
  {
    name: 'an idempotency key with a space',
    argv: [...trigger, '--idempotency-key', 'build 12'],
    code: 64,
    says: ['error: the idempotency key must be 1 to 255 visible ASCII characters', 'build-12'],
  },
  {
    name: 'the path before the method',
    argv: ['api', '/api/environments', 'GET'],
    code: 64,
    says: ['the path comes after the method', 'rungate api GET /api/environments'],
  },
  {
    name: 'a webhook of a service with other header names',
    argv: ['webhooks', 'verify', '--request-file', 'r'],
    world: () => ({
      env: { RUNGATE_WEBHOOK_SECRET: 'whsec_0123456789' },
      files: { r: 'X-Acme-Timestamp: 2026-11-20T12:00:00Z\r\n\r\n{}' },
    }),
    code: 1,
    says: ['X-Service-Timestamp is missing', '--timestamp-header and --signature-header'],
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
    code: 1,
    says: ['the signature does not match', 'the body is empty: pass its file with --body-file'],
  },
  {
    name: 'a list with spaces',
    argv: ['config', 'set', 'tags', 'smoke', 'nightly'],
    code: 64,
    says: ['separate the values with commas: smoke,nightly'],
  },
  {
    name: 'a policy with a space',
    argv: ['config', 'set', 'on', 'cancelled', 'fail'],
    code: 64,
    says: ['cancelled=fail,timeout=warn'],
  },
  {
    name: 'a variable as NAME=value',
    argv: ['env', 'vars', 'create', 'staging', 'A=1'],
    code: 64,
    says: ['--field name=A --field value=1'],
  },
  {
    name: 'false for an option that takes no value',
    argv: ['webhooks', 'list', '--include-global', 'false'],
    code: 64,
    says: ['write --no-include-global'],
  },
  {
    name: 'columns with spaces',
    argv: ['env', 'list', '--columns', 'id', 'name'],
    code: 64,
    says: ['--columns id,name'],
  },
  {
    name: 'a command of gh',
    argv: ['run', 'view', 'run_1'],
    code: 64,
    says: ['did you mean rungate run status?'],
  },
  {
    name: 'a list that the service does not have',
    argv: ['run', 'list'],
    code: 64,
    says: ['the service has no list of runs'],
  },
  {
    name: 'the login command of gh',
    argv: ['auth', 'login'],
    code: 64,
    says: ['write rungate login'],
  },
  {
    name: 'the output format of kubectl',
    argv: ['run', 'status', 'run_1', '-o', 'json'],
    code: 64,
    says: ['write --json or --format <format>'],
  },
];
