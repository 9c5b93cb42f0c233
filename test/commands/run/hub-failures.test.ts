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
});
