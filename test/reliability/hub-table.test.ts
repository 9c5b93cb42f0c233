import { readFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { trigger } from '../cli/harness.ts';
import { type HubStage, hubStage, type Running, type TestHub } from '../cli/hub-stage.ts';

const runMs = 60_000;

// A gate that loses its hub waits for a random time, which would change the figures.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const ready = 'event: ready\ndata: {"version":1}\n\n';

/** The state of a gate whose run is in progress. */
interface Scene {
  on: HubStage;
  running: Running;
}

interface Row {
  name: string;
  /** Returns the URL of the hub. */
  hub(on: HubStage): Promise<string>;
  /** Plays the failure once the gate has read the status for the first time. */
  after?(scene: Scene): Promise<unknown>;
  env?: Record<string, string>;
  /** Creating the run waits for the hub, so time must pass before the run is in progress. */
  startsLate?: boolean;
}

const stream = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(ready);
};

/** A server that responds to every request in the same way. */
const always = (handle: RequestListener) => (on: HubStage) => on.server(handle);

/** A hub that is alive, and handles requests for grants in its own way. */
const hubThat = (grant: (response: ServerResponse, on: HubStage) => void) => async (on: HubStage) => {
  const beats = new Set<ServerResponse>();
  const url = await on.server((request, response) => {
    if (request.url === '/v1/grants') return grant(response, on);
    if (request.url !== '/v1/wakes') return void response.writeHead(204).end();
    stream(response);
    beats.add(response);
  });
  const beat = () => {
    for (const response of beats) response.write(': heartbeat\n\n');
    on.time.at(on.time.clock.monotonic() + 3000, beat);
  };
  beat();
  return url;
};

/** A real hub, and what happens to it in the middle of the wait. */
function lost(name: string, change: (hub: TestHub, scene: Scene) => Promise<unknown>): Row {
  const hubs = new Map<HubStage, TestHub>();
  return {
    name,
    async hub(on) {
      const hub = await on.hub();
      hubs.set(on, hub);
      return hub.url;
    },
    after: (scene) => change(hubs.get(scene.on) as TestHub, scene),
  };
}

const portOf = ({ url }: TestHub) => Number(new URL(url).port);

const rows: readonly Row[] = [
  lost('none: the delivery arrives', async (hub, { on, running }) => {
    await on.pass(runMs - 1000);
    await hub.deliver({ run: running.runId() });
    await on.pass(1000);
    await hub.deliver({ again: running.runId() });
  }),
  lost('the delivery is lost', async () => {}),
  { name: 'nothing listens at the URL of the hub', hub: async () => 'http://127.0.0.1:1' },
  { name: 'the hub does not respond', hub: always(() => {}), startsLate: true },
  {
    name: 'the token is wrong',
    hub: async (on) => (await on.hub()).url,
    env: { RUNGATE_HUB_TOKEN: 'x'.repeat(32) },
  },
  { name: 'another server: HTML', hub: always((_, response) => response.end('<html></html>')) },
  { name: 'another server: 404', hub: always((_, response) => response.writeHead(404).end()) },
  { name: 'status code 500', hub: always((_, response) => response.writeHead(500).end()) },
  {
    name: 'a redirect to another server',
    hub: always((_, response) => response.writeHead(307, { location: 'http://127.0.0.2:1/' }).end()),
  },
  {
    name: 'another version of the hub',
    hub: always((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: ready\ndata: {"version":2}\n\n');
    }),
  },
  {
    name: 'grants are never given',
    // A hub holds each request for 20 s.
    hub: hubThat((response, { time }) =>
      time.at(time.clock.monotonic() + 20_000, () =>
        response.writeHead(202, { 'content-type': 'application/json' }).end('{"granted":false}'),
      ),
    ),
    startsLate: true,
  },
  { name: 'grants are refused with 500', hub: hubThat((response) => response.writeHead(500).end()) },
  lost('the hub stops in the middle', (hub) => hub.close()),
  lost('the hub restarts in the middle, and the delivery comes after it', async (hub, { on, running }) => {
    await hub.close();
    await on.pass(30_000);
    const next = await on.hub(portOf(hub));
    await on.pass(runMs - 31_000);
    await on.pass(1000);
    await next.deliver({ run: running.runId() });
  }),
];

interface Played {
  codes: string;
  reads: number;
  warnings: number;
  lateMs: number;
}

async function play(row: Row, outcome: 'passed' | 'failed'): Promise<Played> {
  const on = await hubStage({ duration: runMs, outcome });
  try {
    const url = await row.hub(on);
    const running = on.start(url, [...trigger, '--wait', '--timeout', '30m'], { env: row.env ?? {} });
    await on.settle(() => running.printed().err.includes('in_progress'), row.startsLate === true ? 250 : 0);
    await row.after?.({ on, running });
    const { code, err } = await running.end();
    const sent = (endpoint: string) => on.mock.requests.filter((request) => request.endpoint === endpoint);
    const [create, ...others] = sent('run.trigger');
    expect(others, `${row.name}: creates`).toEqual([]);
    return {
      codes: String(code),
      reads: sent('run.status').length,
      warnings: err.split('\n').filter((line) => line.startsWith('warning:')).length,
      lateMs: on.time.clock.now() - (create?.at ?? 0) - runMs,
    };
  } finally {
    await on.close();
  }
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;

/** Plays a row for a run that passes and one that fails: they differ only in the exit code. */
async function cells(row: Row): Promise<string[]> {
  const [passed, failed] = await Promise.all([play(row, 'passed'), play(row, 'failed')]);
  expect([passed.codes, failed.codes], row.name).toEqual(['0', '1']);
  const { reads, warnings, lateMs } = passed;
  return [row.name, `${passed.codes} or ${failed.codes}`, String(warnings), String(reads), seconds(lateMs)];
}

const page = readFileSync(new URL('../../docs/project/fleet.md', import.meta.url), 'utf8');
const part = /(?<=<!-- table -->\n\n).*(?=\n<!-- end of table -->)/s;

// `npm run docs:reliability` is this test with --update: it writes the file that it otherwise compares.
it('writes the table of failures into docs/project/fleet.md, unchanged', async () => {
  const head = ['failure', 'exit code', 'warnings', 'status reads', 'the gate ends after the run'];
  const table = [head, ...(await Promise.all(rows.map(cells)))];
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  table.splice(
    1,
    0,
    widths.map((width) => '-'.repeat(width)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const text = table.map(line).join('');
  expect(page).toMatch(part);
  await expect(page.replace(part, () => text)).toMatchFileSnapshot('../../docs/project/fleet.md');
});
