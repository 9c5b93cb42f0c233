import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inRepository, trigger } from '../../cli/harness.ts';
import { type HubStage, hubStage, hubToken, type TestHub } from '../../cli/hub-stage.ts';
import { until } from '../../until.ts';

describe('with a hub', () => {
  let on: HubStage;
  beforeEach(async () => {
    on = await hubStage({ duration: 60_000, retryAfterSeconds: 300 });
  });
  afterEach(() => on.close());

  const waits = [...trigger, '--wait'];
  const reads = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.status').length;
  const granted = ({ log }: TestHub) => log.flatMap((event) => (event.type === 'grant' ? [event.class] : []));
  const openStreams = async ({ url }: TestHub) =>
    ((await (await fetch(`${url}/readyz`)).json()) as { streams: number }).streams;
  const warnings = (text: string) => text.split('\n').filter((line) => line.startsWith('warning:'));

  describe('a gate with a hub', () => {
    it('reads once, and again when a webhook names its run, long before the next poll', async () => {
      const hub = await on.hub();
      const running = on.start(hub.url, waits);
      await running.prints('in_progress');
      await on.pass(61_000);
      expect(running.result).toBe(null);
      expect(reads()).toBe(1);
      expect(await hub.deliver({ event: 'run.completed', run: running.runId() })).toBe(204);
      await on.pass(1000);
      expect(running.result).toMatchObject({ code: 0 });
      expect(running.result?.err).toContain(
        'completed after 1 min 1 s (0 failed, 0 blocked; woken by a webhook)',
      );
      expect(granted(hub)).toEqual(['create', 'first', 'confirm']);
      await until(async () => (await openStreams(hub)) === 0);
    });

    it('uses none with RUNGATE_HUB_URL=none, whatever the project file says', async () => {
      const hub = await on.hub();
      const project = { hub: { url: hub.url } };
      expect(await on.start('none', trigger, inRepository(project)).end()).toMatchObject({ code: 0 });
      expect(hub.log).toEqual([]);
      const unset = inRepository(project, { RUNGATE_HUB_URL: undefined });
      expect(await on.start('', trigger, unset).end()).toMatchObject({ code: 0 });
      expect(granted(hub)).toEqual(['create']);
    });
  });

  describe('the token of a hub', () => {
    it('that is not set is one warning with the remedy, and the gate polls by itself', async () => {
      const hub = await on.hub();
      const env = { RUNGATE_HUB_TOKEN: '' };
      const { code, err } = await on.start(hub.url, [...waits, '--quiet'], { env }).end();
      expect(code).toBe(0);
      expect(warnings(err)).toEqual([
        expect.stringContaining('the hub cannot be used: the hub token is not set'),
      ]);
      expect(err).toContain("  → set RUNGATE_HUB_TOKEN to one of the hub's tokens");
      expect(granted(hub)).toEqual([]);
      expect(reads()).toBe(2);
    });

    it('is not sent to a URL from the project file in a pipeline for a fork', async () => {
      const hub = await on.hub();
      const event = {
        pull_request: {
          head: { repo: { full_name: 'fork/shop' } },
          base: { repo: { full_name: 'team/shop' } },
        },
      };
      const files = {
        '/repo/.git': '',
        '/repo/.rungate.json': JSON.stringify({ 'hub.url': hub.url }),
        '/event.json': JSON.stringify(event),
      };
      const env = {
        RUNGATE_HUB_URL: undefined,
        GITHUB_ACTIONS: 'true',
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: '/event.json',
        GITHUB_REPOSITORY: 'team/shop',
      };
      const { code, err } = await on.start('', [...trigger, '--no-wait'], { cwd: '/repo', files, env }).end();
      expect(code).toBe(0);
      expect(warnings(err)).toEqual([expect.stringContaining('its project file sets hub.url')]);
      expect(hub.log).toEqual([]);
    });

    it.each([
      ['http://hub.example', 'the URL of the hub uses http, which is not encrypted: hub.example'],
      ['https://user:pass@hub.example', 'the URL of the hub must not contain a user name or password'],
      ['hub.example', 'the URL of the hub is not a URL'],
    ])('is not sent to %s: an invalid URL is an error (78) before anything is sent', async (url, message) => {
      const { code, err } = await on.start(url, waits).end();
      expect(code).toBe(78);
      expect(err).toContain(message);
      expect(on.mock.requests).toEqual([]);
    });
  });

  it('a hub that lies about everything cannot change a verdict, nor cause more reads than the limits allow', async () => {
    await on.close();
    on = await hubStage({ duration: 45_000, outcome: 'failed' });
    let id = 0;
    const url = await on.server((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += String(part);
      });
      request.on('end', () => {
        if (request.url?.endsWith('/grants'))
          return response.end('{"granted":true,"state":"completed","failed":0}');
        response.write('event: ready\ndata: {"version":1}\n\n');
        const runs: string[] = JSON.parse(body).runs ?? [];
        for (let wake = 0; wake < 1000; wake += 1)
          for (const runId of runs) {
            id += 1;
            const data = JSON.stringify({ runId, state: 'completed', failed: 0, blocked: 0 });
            response.write(`id: ${id}\nevent: wake\ndata: ${data}\n\n`);
          }
      });
    });
    const result = await on.start(url, waits).end();
    expect(result.code).toBe(1);
    // One read every 10 s, and two for each of the ten wake-ups that count.
    expect(reads()).toBeLessThanOrEqual(1 + 5 + 20);
    expect(result.out + result.err).not.toContain(hubToken);
  });
});
