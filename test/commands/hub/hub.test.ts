import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createServer as createTlsServer } from 'node:tls';
// @ts-expect-error a package without types
import parsePrometheusTextFormat from 'parse-prometheus-text-format';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hubVersion } from '../../../src/gate/fleet/protocol.ts';
import { version } from '../../../src/version.ts';
import { pem } from '../../cli/gateway.ts';
import { cli, type Settings } from '../../cli/harness.ts';
import { isRedisMissing, startRedis, type TestRedis } from '../../hub/redis.ts';
import { listen } from '../../listen.ts';
import { ask, deliver, env, hub, signedHeaders, stream, token } from './running-hub.ts';

interface Family {
  name: string;
  type: string;
  metrics: { value?: string; count?: string; labels?: Record<string, string> }[];
}
const parse: (text: string) => Family[] = parsePrometheusTextFormat;

describe('rungate hub does not start', () => {
  const missing = 'no token for gates is set';
  it.each<[string, Settings['env'], readonly string[], number, readonly string[]]>([
    [
      'without a token',
      { RUNGATE_HUB_TOKEN: '' },
      [],
      78,
      [missing, 'RUNGATE_HUB_TOKEN_FILE', 'openssl rand'],
    ],
    [
      'with a short token',
      { RUNGATE_HUB_TOKEN: `${token}\nshort` },
      [],
      78,
      ['token 2 of 2 in RUNGATE_HUB_TOKEN has fewer than 16 characters', 'openssl rand'],
    ],
    [
      'with a password of Redis on the command line',
      {},
      ['--redis', 'redis://:hunter22@localhost'],
      64,
      ['--redis must not have a password', 'RUNGATE_HUB_REDIS_URL_FILE'],
    ],
    [
      'with a variable that is not a URL of Redis',
      { RUNGATE_HUB_REDIS_URL: 'http://:hunter22@localhost' },
      [],
      78,
      ['RUNGATE_HUB_REDIS_URL is not the URL of a Redis server', 'redis://host:6379'],
    ],
    [
      'with a URL of GitHub that would show its token',
      { RUNGATE_GITHUB_TOKEN: 'hunter22', GITHUB_API_URL: 'http://github.example' },
      [],
      78,
      ['the URL of the GitHub API uses http'],
    ],
  ])('%s', async (_name, own, argv, code, texts) => {
    const result = await cli(['hub', ...argv], { env: { ...env, ...own } });
    expect(result).toMatchObject({ code, out: '' });
    for (const text of texts) expect(result.err).toContain(text);
    expect(result.err).not.toContain('hunter');
    expect(result.err).not.toContain(token);
  });
});

describe('rungate hub', () => {
  it('needs no API key, and takes tokens and secrets from files', async () => {
    const { url } = await hub([], {
      env: {
        RUNGATE_HUB_TOKEN: undefined,
        RUNGATE_HUB_TOKEN_FILE: '/tokens',
        RUNGATE_WEBHOOK_SECRET: undefined,
        RUNGATE_TENANT_SECRET_FILE: '/tenant',
      },
      files: { '/tokens': `new-token-0123456789\n${token}\n`, '/tenant': 'tenant-Secret-0123456789\n' },
    });
    expect((await ask(url, '/v1/grants', { class: 'first' }, 'new-token-0123456789')).status).toBe(200);
    expect((await ask(url, '/v1/grants', { class: 'first' })).status).toBe(200);
    expect((await ask(url, '/v1/grants', { class: 'first' }, 'another-token-0123456789')).status).toBe(401);
    expect(await deliver(url, '{}', signedHeaders('{}', 'tenant-Secret-0123456789'))).toBe(204);
    expect(await deliver(url, '[]')).toBe(401);
  });

  it('warns if other machines can reach it', async () => {
    const on = await hub(['--host', '0.0.0.0']);
    expect(on.err()).toBe('warning: listening on 0.0.0.0: other machines can reach it, in plain HTTP\n');
    expect((await hub()).err()).toBe('');
  });
});

describe('the metrics', () => {
  it('are in the text format of Prometheus, and count everything', async () => {
    const on = await hub();
    await stream(on.url, ['run_1']);
    const body = '{"run":"run_1"}';
    expect(await deliver(on.url, body)).toBe(204);
    expect(await deliver(on.url, body, signedHeaders(body, 'whook-Secret-of-another'))).toBe(401);
    await ask(on.url, '/v1/grants', { class: 'create' });
    await ask(on.url, '/v1/limits', { retryAfterMs: 2000 });
    await ask(on.url, '/v1/grants', { class: 'first' }, 'wrong');
    const response = await fetch(`${on.url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    // The parser does not know histograms with labels.
    expect(text).toContain('\nrungate_hub_grant_wait_seconds_count{class="create"} 1\n');
    const families = parse(text).filter(({ name }) => !name.endsWith('_wait_seconds'));
    const own = families.filter(({ name }) => name.startsWith('rungate_hub_'));
    const values = own.flatMap(({ name, type, metrics }) =>
      metrics.flatMap(({ value, labels, count }): [string, string][] => {
        const shown = type === 'HISTOGRAM' ? count : value;
        const of = Object.values(labels ?? {}).join();
        return Number(shown) === 0 ? [] : [[of === '' ? name : `${name} ${of}`, String(shown)]];
      }),
    );
    expect(Object.fromEntries(values)).toEqual({
      'rungate_hub_deliveries_total accepted': '1',
      'rungate_hub_deliveries_total mismatch': '1',
      rungate_hub_delivery_age_seconds: '1',
      'rungate_hub_grants_total create': '1',
      [`rungate_hub_build_info ${version},${hubVersion},${process.versions.node}`]: '1',
      'rungate_hub_budget_configured creates': '16',
      'rungate_hub_budget_configured reads': '48',
      'rungate_hub_budget_configured requests': '80',
      'rungate_hub_budget_present creates': '2',
      'rungate_hub_budget_present reads': '6',
      'rungate_hub_budget_present requests': '10',
      rungate_hub_rate_limited_total: '1',
      rungate_hub_ready: '1',
      'rungate_hub_refused_requests_total 401': '1',
      rungate_hub_streams: '1',
      rungate_hub_wakes_total: '1',
    });
  });
});

describe.skipIf(isRedisMissing)('with Redis, rungate hub', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(['--bind', '127.0.0.1', '-::1', '--requirepass', 'hunter%22 é']);
  });
  afterAll(() => redis.stop());
  const encoded = encodeURIComponent('hunter%22 é');

  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  );
  it.each(['localhost', '127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])])(
    'connects to %s and selects a database',
    async (host) => {
      const on = await hub(undefined, {
        env: { RUNGATE_HUB_REDIS_URL: `redis://default:${encoded}@${host}:${redis.port}/3\n` },
      });
      expect(await (await fetch(`${on.url}/readyz`)).json()).toMatchObject({ status: 'ok', redis: true });
      expect(on.out()).not.toContain('hunter');
    },
  );

  it('goes on without Redis after a wrong password, which it does not print', async () => {
    const on = await hub(undefined, {
      env: { RUNGATE_HUB_REDIS_URL: `redis://:hunter-wrong@127.0.0.1:${redis.port}` },
    });
    expect(on.events()[0]).toMatchObject({
      event: 'redis-lost',
      error: expect.stringContaining('WRONGPASS'),
    });
    expect(on.out()).not.toContain('hunter');
  });

  it('connects with TLS, and trusts the certificates of --ca-file', async () => {
    const proxy = createTlsServer({ key: pem('server.key'), cert: pem('server.pem') }, (socket) => {
      const inner = connect(redis.port, '127.0.0.1');
      for (const each of [socket, inner]) each.on('error', () => {});
      socket.pipe(inner).pipe(socket);
    });
    const port = await listen(proxy);
    const own = { RUNGATE_HUB_REDIS_URL: `rediss://:${encoded}@localhost:${port}` };
    const files = { 'ca.pem': pem('ca.pem') };
    const trusting = await hub(['--ca-file', 'ca.pem', '--format', 'ndjson'], { env: own, files });
    expect(await (await fetch(`${trusting.url}/readyz`)).json()).toMatchObject({ redis: true });
    const strict = await hub(undefined, { env: own });
    expect(strict.events()[0]).toMatchObject({ event: 'redis-lost' });
  });
});
