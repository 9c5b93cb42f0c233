import { afterEach, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { type HubStage, hubStage, type Running } from '../../cli/hub-stage.ts';

let on: HubStage;
afterEach(() => on.close());

const names = Array.from({ length: 10 }, (_, at) => `g${at}`);
/** Every third gate fails. */
const fails = names.map((_, at) => at % 3 === 2);
const outcome = fails.map((failed) => (failed ? 'failed' : 'passed'));
const files = {
  '/repo/.rungate.json': JSON.stringify({
    project: 'shop',
    timeout: '20m',
    gates: Object.fromEntries(names.map((name) => [name, { process: name }])),
  }),
};

async function startTen(options: MockOptions, hubUrl: (on: HubStage) => Promise<string>): Promise<Running> {
  on = await hubStage({ outcome, rateLimit: 'documented', ...options });
  return on.start(await hubUrl(on), ['gate', '--json'], { cwd: '/repo', files });
}

const about = (text: string, what: RegExp) => text.split('\n').filter((line) => what.test(line));
const inProgress = ({ printed }: Running) => about(printed().err, /: in_progress/).length;

/** Checks that each gate has its verdict, that each run was created once, and that no request was refused. */
async function expectVerdicts(running: Running): Promise<string> {
  const { code, out, err } = await running.end();
  expect(code).toBe(1);
  const ends = JSON.parse(out).gates.map((gate: { result: string }) => gate.result);
  expect(ends).toEqual(fails.map((failed) => (failed ? 'fail' : 'pass')));
  const statuses = on.mock.requests.map(({ status }) => status);
  expect(statuses).not.toContain(429);
  expect(on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger')).toHaveLength(10);
  return err;
}

it('ten gates with a hub have their verdicts within seconds after the deliveries', async () => {
  let deliver = async (_json: unknown) => 0;
  const running = await startTen({ duration: 300_000 }, async (stage) => {
    const hub = await stage.hub();
    deliver = hub.deliver;
    return hub.url;
  });
  await on.settle(() => inProgress(running) === 10, 250);
  await on.pass(300_000);
  const deliveredAt = on.time.clock.monotonic();
  for (const run of on.mock.state.runs.keys()) expect(await deliver({ run })).toBe(204);
  // In small steps: on a slow machine the responses take real time, in which the clock goes on.
  await on.settle(() => running.result !== null, 25);
  expect(on.time.clock.monotonic() - deliveredAt).toBeLessThanOrEqual(15_000);
  const err = await expectVerdicts(running);
  expect(about(err, /^warning:/)).toEqual([]);
});

it('ten gates whose hub is killed and comes back say so once, and have their verdicts', async () => {
  let kill = async () => {};
  let port = 0;
  const running = await startTen({ duration: 240_000 }, async (stage) => {
    const hub = await stage.hub();
    kill = hub.close;
    port = Number(new URL(hub.url).port);
    return hub.url;
  });
  await on.settle(() => inProgress(running) === 10, 250);
  const closed = kill();
  await on.pass(5000);
  await closed;
  await on.pass(60_000);
  expect(about(running.printed().err, /^warning:/)).toHaveLength(1);
  await on.hub(port);
  await on.settle(() => about(running.printed().err, /the hub is back/).length > 0, 250);
  const err = await expectVerdicts(running);
  expect(about(err, /^warning:|the hub is back/)).toEqual([
    expect.stringContaining('the hub cannot be used'),
    'the hub is back',
  ]);
});

it('a mistake in the URL of the hub is one error, before any run is created', async () => {
  on = await hubStage();
  const gates = { api: { process: 'api' }, web: { process: 'web', needs: ['api'] } };
  const file = { '/repo/.rungate.json': JSON.stringify({ project: 'shop', gates }) };
  const { code, out, err } = await on
    .start('ftp://hub.example', ['gate'], { cwd: '/repo', files: file })
    .end();
  expect([code, out]).toEqual([78, '']);
  expect(err).toMatch(/^error: the URL of the hub must begin with https:[^\n]*\n {2}→ [^\n]*\n$/m);
  expect(on.mock.requests).toEqual([]);
});
