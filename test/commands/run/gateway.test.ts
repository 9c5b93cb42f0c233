import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runMain, runPost, type Toolkit } from '../../../src/action.ts';
import { gatewayHeader, pem, type Received, startGateway, startTls } from '../../cli/gateway.ts';
import { asked, memoryIo, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { withLimits } from '../../fake-clock.ts';

const line = `${gatewayHeader.name}: ${gatewayHeader.value}`;
const files = {
  '/ca.pem': pem('ca.pem'),
  '/c.pem': pem('server.pem'),
  '/c.key': pem('server.key'),
  '/h': `${line}\n`,
};
const connection = ['--ca-file', '/ca.pem', '--cert-file', '/c.pem', '--key-file', '/c.key'];
const checkout = ['--project', 'shop', '--process', 'checkout'];

let on: Stage;
let folder: string;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let elsewhere: Awaited<ReturnType<typeof startTls>>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-gateway-'));
  on = await stage({ duration: 60_000 });
  gateway = await startGateway(on.mock.url);
  elsewhere = await startTls(false, (request, response) => {
    response.writeHead(request.url?.startsWith('/v') || request.url === '/' ? 200 : 404).end('v7');
  });
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (argv: readonly string[], { env, ...settings }: Settings = {}) =>
  on.with({
    clock: withLimits(on.clock),
    files: { ...files },
    ...settings,
    env: { RUNGATE_API_URL: gateway.url, RUNGATE_HEADERS_FILE: '/h', RUNGATE_CONFIG_DIR: folder, ...env },
  })(...argv, ...connection);

const nothingIn = (received: readonly Received[]) =>
  received.filter(({ header, certificate }) => header !== undefined || certificate !== undefined);

/** Checks that the service behind the gateway got each request, and no other server the header or the certificate. */
function expectOnlyThere() {
  expect(gateway.received.length).toBeGreaterThan(0);
  for (const one of gateway.received)
    expect(one).toMatchObject({ header: gatewayHeader.value, certificate: 'localhost' });
  expect(nothingIn(elsewhere.received)).toEqual([]);
}

describe('a service behind a gateway that demands a header and a client certificate', () => {
  it.each<[string, readonly string[]]>([
    ['gate', ['gate', ...checkout]],
    ['run trigger', trigger],
    ['env list', ['env', 'list']],
    ['api', ['api', 'GET', '/api/environments']],
    ['doctor', ['doctor']],
    ['login', ['login']],
  ])('is reached by %s', async (_, argv) => {
    const { code, err } = await run(argv, { stdin: on.mock.apiKey });
    expect(err).not.toContain(gatewayHeader.value);
    expect(code).toBe(0);
    expectOnlyThere();
  });

  it('is reached by both steps of the action, which mask the header', async () => {
    const inputs: Record<string, string> = {
      'api-key': on.mock.apiKey,
      'api-url': gateway.url,
      'ca-file': '/ca.pem',
      'cert-file': '/c.pem',
      'key-file': '/c.key',
      headers: line,
      project: 'shop',
      process: 'checkout',
      timeout: '20s',
      'cancel-on-timeout': 'false',
    };
    const masked: string[] = [];
    let journal = '';
    const toolkit: Toolkit = {
      getInput: (name) => inputs[name] ?? '',
      getState: (name) => (name === 'journal' ? journal : ''),
      saveState: (name, value) => {
        if (name === 'journal') journal = value;
      },
      setSecret: (secret) => masked.push(secret),
    };
    const ioOf = () =>
      memoryIo({ clock: withLimits(on.clock), files: { ...files }, env: { RUNNER_TEMP: folder } }).io;
    expect(await runMain(toolkit, ioOf())).toBe(3);
    expect(masked).toEqual(expect.arrayContaining([line, gatewayHeader.value]));
    expect(readFileSync(journal, 'utf8')).not.toContain(gatewayHeader.value);
    expect(await runPost(toolkit, ioOf())).toBe(0);
    expect(asked(on.mock).at(-1)).toBe('run.cancel');
    expectOnlyThere();
  });

  it('is the only one that gets them, not the hub, the version page or the deployment', async () => {
    const { url } = elsewhere;
    const { code, err } = await run(
      ['gate', ...checkout, '--base-url', url, '--deployed-url', `${url}/version`, '--deployed-is', 'v7'],
      { env: { RUNGATE_HUB_URL: `${url}/hub`, RUNGATE_HUB_TOKEN: 'token-of-the-gates-0123456789' } },
    );
    expect(err).toContain('hub');
    expect(code).toBe(0);
    const paths = elsewhere.received.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['/', '/version', expect.stringMatching(/^\/hub/)]));
    expectOnlyThere();
  });
});

it.each([301, 302, 307, 308])(
  'a redirect (%d) carries neither the header nor the certificate elsewhere',
  async (status) => {
    const location = `${elsewhere.url}/api/environments`;
    const redirecting = await startTls(
      true,
      (_, response) => void response.writeHead(status, { location }).end(),
    );
    const { code, err } = await run(['env', 'list'], { env: { RUNGATE_API_URL: redirecting.url } });
    expect(code).toBe(5);
    expect(err).toContain('to another origin');
    expect(redirecting.received).toMatchObject([{ header: gatewayHeader.value, certificate: 'localhost' }]);
    expect(elsewhere.received).toEqual([]);
  },
);

describe('extra headers', () => {
  it.each([
    ['X-API-Key: k', '"X-API-Key" cannot be set'],
    ['Idempotency-Key: hidden-value', '"Idempotency-Key" cannot be set'],
    ['Accept-Encoding: gzip', '"Accept-Encoding" cannot be set'],
    ['X-A: hidden-value\u00e9', 'must be visible ASCII'],
  ])('refuse %s with 78, before anything is sent', async (text, message) => {
    for (const argv of [
      ['env', 'list'],
      ['gate', ...checkout],
    ]) {
      const { code, err } = await run(argv, {
        env: { RUNGATE_HEADERS_FILE: undefined, RUNGATE_HEADERS: text },
      });
      expect([code, err]).toEqual([78, expect.stringContaining(`RUNGATE_HEADERS: `)]);
      expect(err).toContain(message);
      expect(err).not.toContain('hidden-value');
    }
    expect(gateway.received).toEqual([]);
  });

  it('are not sent where a project file of a fork directs', async () => {
    const own = { ...files, '/repo/.git': '', '/repo/.rungate.json': `{ "apiUrl": "${elsewhere.url}" }` };
    const env = {
      RUNGATE_API_URL: '',
      RUNGATE_API_KEY: '',
      RUNGATE_TOKEN: '',
      GITHUB_EVENT_NAME: 'pull_request_target',
    };
    const { code, err } = await run(['env', 'list'], { cwd: '/repo', files: own, env });
    expect([code, err]).toEqual([78, expect.stringContaining('may run for a fork')]);
    expect(elsewhere.received).toEqual([]);
  });

  it('are redacted where the service repeats them, whole, without the scheme and in parts', async () => {
    const [scheme, parts] = ['Basic c2VjcmV0LW9mLXRoZS1nYXRl', 'session=abc123def456; theme=dark'];
    const headers = `X-Gate: ${gatewayHeader.value}\nX-Scheme: ${scheme}\nCookie: ${parts}`;
    const body = { error: `${scheme} and ${scheme.slice(6)} and abc123def456 and ${gatewayHeader.value}` };
    on.mock.faults.add({ kind: 'status', status: 400, body, times: 9 });
    for (const argv of [
      ['env', 'list', '--json'],
      ['env', 'list', '--verbose'],
      ['gate', ...checkout],
    ]) {
      const { out, err } = await run(argv, {
        env: { RUNGATE_HEADERS_FILE: undefined, RUNGATE_HEADERS: headers },
      });
      expect(err).toContain('***');
      expect(out + err).not.toMatch(/c2VjcmV0|abc123def456|gate-Pass/);
    }
  });
});
