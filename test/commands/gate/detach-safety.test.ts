import { afterEach, describe, expect, it } from 'vitest';
import { type Circle, context, head, minute, openCircle } from './circle.ts';

let on: Circle;
afterEach(() => on.close());

describe('two gates of one commit that have one commit status', () => {
  const staging = ['--environment', 'staging'];
  const production = ['--environment', 'production'];

  it.each([
    ['has failed', { outcome: 'failed', duration: 0 }, 1, 'failure'],
    ['goes on', { duration: 10 * minute }, 0, 'pending'],
  ] as const)(
    'are refused: the second one does not begin while the first %s',
    async (_, options, code, state) => {
      on = await openCircle(options);
      expect(await on.ended(on.detach({}, staging))).toMatchObject({ code });
      const id = on.idOf();
      expect(await on.ended(on.detach({ run: '2' }, production))).toMatchObject({
        code: 64,
        err: expect.stringContaining('another gate of the commit has the same commit status'),
      });
      expect([on.latest()?.state, on.idOf(), on.runs().length]).toEqual([state, id, 1]);
    },
  );
});

it('a different gate of the commit is refused even if the hub has lost the first one', async () => {
  on = await openCircle({ outcome: 'failed', duration: 0 });
  expect(await on.ended(on.detach({}, ['--environment', 'staging']))).toMatchObject({ code: 1 });
  await on.hub.stop();
  on.hub = await on.serveHub();
  expect(await on.ended(on.detach({ run: '2' }, ['--environment', 'production']))).toMatchObject({
    code: 64,
  });
  expect([on.latest()?.state, on.runs().length]).toEqual(['failure', 1]);
});

describe('a gate that no job can continue', () => {
  it('gets an error at its timeout, and then starts no job', async () => {
    on = await openCircle();
    on.github.onStart = ({ inputs: { id = '' } }) =>
      void on.jobs.push(on.resume(id, { env: { RUNGATE_API_KEY: 'the-key-of-another-account' } }));
    expect(await on.ended(on.detach({}, ['--timeout', '30m']))).toMatchObject({ code: 0 });
    expect(await on.decided()).toMatchObject({
      state: 'error',
      description: expect.stringMatching(/^the job could not continue /),
    });
    const jobs = on.jobs.length;
    expect(new Set(on.jobs.map(({ result }) => result?.code))).toEqual(new Set([78]));
    await on.wait(3 * 60 * minute);
    expect(on.jobs.length).toBe(jobs);
  });

  it('since somebody else has set its status starts one job, even if jobs come late', async () => {
    on = await openCircle();
    const { time } = on;
    on.github.onStart = ({ inputs: { id = '' } }) =>
      time.at(time.clock.monotonic() + 20_000, () => on.jobs.push(on.resume(id)));
    expect(await on.ended(on.detach({}, ['--timeout', '30m']))).toMatchObject({ code: 0 });
    on.github.set(head, { state: 'success', context, description: 'by hand' });
    await on.wait(3 * 60 * minute);
    expect(on.jobs.map(({ result }) => result?.code)).toEqual([78]);
    expect(on.latest()?.description).toBe('by hand');
  });
});

it('an interrupted job leaves the run and the pending status to the next one', async () => {
  on = await openCircle({ duration: 60 * minute });
  expect(await on.ended(on.detach({}, ['--timeout', '2h']))).toMatchObject({ code: 0 });
  let stop: (signal: 'SIGINT') => void = () => {};
  const job = on.resume(on.idOf(), {
    onStop(listener) {
      stop = listener;
    },
  });
  await on.wait(20_000);
  stop('SIGINT');
  expect(await on.ended(job)).toMatchObject({ code: 130 });
  expect(on.latest()?.state).toBe('pending');
  expect(await on.decided()).toMatchObject({ state: 'success' });
});

it('a job that goes on sends the token of the hub only where its workflow says', async () => {
  on = await openCircle();
  let requests = 0;
  const other = await on.between((text) => {
    requests += 1;
    return text;
  });
  expect(await on.ended(on.detach({}, [], { env: { RUNGATE_HUB_URL: other } }))).toMatchObject({ code: 0 });
  const before = requests;
  expect(before).toBeGreaterThan(0);
  expect(await on.decided()).toMatchObject({ state: 'success' });
  expect(requests).toBe(before);
});

it('a run whose id no hub knows is decided at the timeout', async () => {
  on = await openCircle({ duration: 10 * minute });
  const tail = 'x'.repeat(300);
  const service = await on.server(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const { 'x-api-key': key = '', 'idempotency-key': link = '' } = request.headers;
    const real = await fetch(on.mock.url + String(request.url).replace(tail, ''), {
      method: String(request.method),
      headers: {
        'content-type': 'application/json',
        'x-api-key': String(key),
        ...(link !== '' && { 'idempotency-key': String(link) }),
      },
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
    });
    const text = (await real.text()).replaceAll(/run_\w+/g, (id) => `${id}${tail}`);
    response.writeHead(real.status, { 'content-type': 'application/json' }).end(text);
  });
  const env = { RUNGATE_API_URL: service };
  expect(await on.ended(on.detach({}, ['--timeout', '30m'], { env }))).toMatchObject({ code: 0 });
  expect(on.latest()?.state).toBe('pending');
  expect(await on.decided()).toMatchObject({ state: 'success' });
});
