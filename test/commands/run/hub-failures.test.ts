import type { RequestListener, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trigger } from '../../cli/harness.ts';
import { type HubStage, hubStage, hubToken } from '../../cli/hub-stage.ts';

let on: HubStage;
beforeEach(async () => {
  on = await hubStage({ duration: 45_000 });
});
afterEach(() => on.close());

const waits = [...trigger, '--wait'];
const reads = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.status').length;
const about = (text: string, what: RegExp) => text.split('\n').filter((line) => what.test(line));
const ready = 'event: ready\ndata: {"version":1}\n\n';

const post =
  (handle: (response: ServerResponse, path: string, body: string) => void): RequestListener =>
  (request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += String(part);
    });
    request.on('end', () => handle(response, String(request.url), body));
  };

/** A hub that keeps its streams and grants no request of some classes, after `holdMs`. */
const stuckHub = (holdMs: number, refused: RegExp, idleMs?: number): RequestListener =>
  post((response, path, body) => {
    const { clock } = on.time;
    if (path.endsWith('/grants')) {
      const isRefused = refused.test(JSON.parse(body).class);
      const json = JSON.stringify({ granted: !isRefused, idleMs });
      const respond = () => void response.writeHead(isRefused ? 202 : 200).end(json);
      return isRefused ? on.time.at(clock.monotonic() + holdMs, respond) : respond();
    }
    if (!path.endsWith('/wakes')) return void response.writeHead(204).end();
    const beat = () => {
      if (response.destroyed) return;
      response.write(': \n\n');
      on.time.at(clock.monotonic() + 3000, beat);
    };
    response.write(ready);
    beat();
  });

/** Responds when the body has arrived. */
const responding =
  (handle: (response: ServerResponse, path: string) => void): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => handle(response, String(request.url)));
  };

describe('a hub that', () => {
  it('redirects to another origin gets the token, and the other origin does not', async () => {
    const seen: unknown[] = [];
    const other = await on.server((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const url = await on.server(responding((response) => response.writeHead(307, { location: other }).end()));
    const { code, err } = await on.start(url, waits).end();
    expect(code).toBe(0);
    expect(about(err, /^warning:/)).toEqual([
      expect.stringContaining('the hub cannot be used: the hub redirects (307) to another origin'),
    ]);
    expect(seen).toEqual([]);
  });

  it('lies about everything cannot change a verdict, nor cause more reads than the limits allow', async () => {
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
        response.write(ready);
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

  describe.each<[string, number, RegExp, number?]>([
    ['grants nothing, and holds each request', 20_000, /./],
    ['grants nothing, and refuses each request at once', 0, /./],
    ['grants nothing, and says so', 20_000, /./, 3_600_000],
    ['grants reads, but never the creation of a run', 20_000, /create/],
  ])('%s', (_what, holdMs, refused, idleMs) => {
    const created = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');

    it('costs a gate some minutes, but not its verdict', async () => {
      const url = await on.server(stuckHub(holdMs, refused, idleMs));
      const { code, err } = await on.start(url, [...waits, '--timeout', '20m']).end();
      expect(code).toBe(0);
      expect(about(err, /^warning:/)).toEqual([
        expect.stringContaining('the hub cannot be used: the hub grants no request'),
      ]);
      expect(created()).toHaveLength(1);
    });

    it('does not change the verdicts of several gates, one of which is retried', async () => {
      await on.close();
      on = await hubStage({ duration: 45_000, outcome: ['failed', 'passed'] });
      const gates = { a: { process: 'a' }, b: { process: 'b', needs: ['a'] } };
      const file = JSON.stringify({ project: 'shop', timeout: '20m', retries: 1, gates });
      const url = await on.server(stuckHub(holdMs, refused, idleMs));
      const files = { '/w/.rungate.json': file };
      const { code, err } = await on.start(url, ['gate'], { cwd: '/w', files }).end();
      expect([code, created().length], err).toEqual([0, 3]);
    });
  });
});
