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
const creates = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger').length;
const about = (text: string, what: RegExp) => text.split('\n').filter((line) => what.test(line));
const ready = 'event: ready\ndata: {"version":1}\n\n';

/** Sends 64 KiB without a line break, again and again. */
function endless(response: ServerResponse): void {
  const chunk = 'x'.repeat(64 * 1024);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

/** Responds when the body has arrived. */
const responding =
  (handle: (response: ServerResponse, path: string) => void): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => handle(response, String(request.url)));
  };

describe('a hub that', () => {
  const cases: [string, ((response: ServerResponse, path: string) => void) | null, RegExp][] = [
    ['has stopped', null, /nothing is listening at 127\.0\.0\.1:1/],
    ['accepts connections and sends nothing', () => {}, /the hub does not respond/],
    ['breaks every connection', (response) => response.destroy(), /broke before the response was complete/],
    ['responds with a page', (response) => response.end('<html>\n<p>Welcome\n</html>\n'), /does not know/],
    ['responds with 500', (response) => response.writeHead(500).end(), /status code 500/],
    ['sends other events', (response) => response.write('event: x\ndata: y\n\n'), /does not know/],
    ['sends a line without an end', endless, /does not know/],
    ['has another version', (response) => response.write(ready.replace('1', '2')), /does not know/],
    [
      'only sends a stream',
      (response, path) => {
        if (path.endsWith('/wakes')) response.write(ready);
        else response.writeHead(404).end();
      },
      /status code 404 to POST \/v1\/grants/,
    ],
  ];

  it.each(cases)(
    '%s causes one warning, and the gate polls by itself within 10 s',
    async (_name, handle, problem) => {
      const url = handle === null ? 'http://127.0.0.1:1' : await on.server(responding(handle));
      const { code, err } = await on.start(url, waits).end();
      expect(code).toBe(0);
      expect(about(err, /^warning:|the hub is back/)).toEqual([
        expect.stringMatching(/^warning: the hub cannot be used: .*; rungate polls by itself$/),
      ]);
      expect(err).toMatch(problem);
      expect(about(err, /^ {2}→ /)).toHaveLength(1);
      expect(creates()).toBe(1);
      // In 45 s, at 10 s and a little more, after at most 10 s.
      expect(reads()).toBeGreaterThanOrEqual(4);
    },
  );

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

  it('is killed in mid-wait causes one warning, and the gate returns to it when it is back', async () => {
    await on.close();
    on = await hubStage({ duration: 120_000 });
    const hub = await on.hub();
    const running = on.start(hub.url, waits);
    await running.prints('in_progress');
    await on.pass(5000);
    const closed = hub.close();
    await on.pass(5000);
    await closed;
    await on.pass(40_000);
    const alone = reads();
    expect(alone).toBeGreaterThanOrEqual(4);
    expect(about(running.printed().err, /^warning:/)).toEqual([
      expect.stringContaining('the hub cannot be used: nothing is listening'),
    ]);

    const again = await on.hub(Number(new URL(hub.url).port));
    await on.pass(45_000);
    expect(about(running.printed().err, /^the hub is back$/)).toHaveLength(1);
    await on.pass(25_250);
    expect(await again.deliver({ run: running.runId() })).toBe(204);
    await on.pass(1000);
    const { code, err } = await running.end();
    expect(code).toBe(0);
    expect(err).toContain('woken by a webhook');
    expect(about(err, /^warning:/)).toHaveLength(1);
    expect(creates()).toBe(1);
  });

  it.each([
    ['passed', 0],
    ['failed', 1],
  ] as const)(
    'lies about everything cannot change the verdict %s, nor cause more reads than the limits allow',
    async (outcome, code) => {
      await on.close();
      on = await hubStage({ duration: 45_000, outcome });
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
      expect(result.code).toBe(code);
      // One read every 10 s, and two for each of the ten wake-ups that count.
      expect(reads()).toBeLessThanOrEqual(1 + 5 + 20);
      expect(result.out + result.err).not.toContain(hubToken);
    },
  );
});
