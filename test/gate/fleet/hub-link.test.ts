import { describe, expect, it } from 'vitest';
import { NetworkError, type RungateError } from '../../../src/errors.ts';
import { HubLinks } from '../../../src/gate/fleet/hub-link.ts';
import { virtualTime } from '../../virtual-time.ts';
import { createHubLink, type FakeHub, type FakeStream, fakeHub } from './fake-hub.ts';

const never = new AbortController().signal;

function connect(hub: FakeHub, random = () => 0) {
  const time = virtualTime();
  const changes: (RungateError | null)[] = [];
  const wakes: string[] = [];
  const link = createHubLink(hub.client, {
    clock: time.clock,
    random,
    onChange: (error) => changes.push(error),
  });
  link.onWake((runId) => wakes.push(runId));
  return {
    time,
    link,
    changes,
    wakes,
    /** Records when the promise settles. */
    settledAt(promise: Promise<unknown>) {
      const settled: { at: number | null; error?: unknown } = { at: null };
      promise.then(
        () => {
          settled.at = time.clock.monotonic();
        },
        (error: unknown) => {
          Object.assign(settled, { at: time.clock.monotonic(), error });
        },
      );
      return settled;
    },
  };
}

const wake = (runId: string, id: string) => ({ type: 'wake', runId, id }) as const;

describe('a link to a hub', () => {
  it('subscribes before any request is granted, and then asks for a grant', async () => {
    const hub = fakeHub(() => {});
    const { time, link, changes, settledAt } = connect(hub);
    const watched = settledAt(link.watch(['run_1']));
    await time.run(5000);
    expect(watched.at).toBe(null);
    hub.streams[0]?.send({ type: 'ready' });
    await time.run(0);
    expect(watched.at).toBe(5000);
    await link.granted('first', 'run_1', never);
    expect(hub.log).toEqual(['stream', 'first']);
    expect(hub.streams[0]?.runIds).toEqual(['run_1']);
    expect(changes).toEqual([]);
  });

  it('calls back for the wake-ups of its runs, and once for a repeated one', async () => {
    const hub = fakeHub();
    const { time, link, wakes } = connect(hub);
    await link.watch(['run_1', 'run_2']);
    for (const event of [
      wake('run_1', '7'),
      wake('other', '8'),
      wake('run_1', '7'),
      wake('run_2', '7'),
      wake('run_1', '9'),
    ])
      hub.streams[0]?.send(event);
    await time.run(0);
    expect(wakes).toEqual(['run_1', 'run_2', 'run_1']);
  });

  it.each(['safety', 'first'] as const)(
    'makes a waiting %s read urgent when its run is woken',
    async (of) => {
      const hub = fakeHub(undefined, () => {});
      const { time, link, settledAt } = connect(hub);
      await link.watch(['run_1', 'run_2']);
      const turn = settledAt(link.granted(of, 'run_1', never));
      const other = settledAt(link.granted(of, 'run_2', never));
      await time.run(3000);
      hub.streams[0]?.send(wake('run_1', '7'));
      await time.run(0);
      expect(hub.grants).toMatchObject([
        { of, waitedMs: 0 },
        { of: 'confirm', waitedMs: 3000 },
      ]);
      hub.grants[1]?.settle(true);
      await time.run(0);
      expect([turn.at, other.at]).toEqual([3000, null]);
    },
  );

  it('asks again when the hub has no grant yet, with the time waited so far', async () => {
    const hub = fakeHub(undefined, () => {});
    const { time, link, settledAt } = connect(hub);
    await link.watch(['run_1']);
    const turn = settledAt(link.granted('safety', 'run_1', never));
    await time.run(5000);
    hub.grants[0]?.settle(false);
    await time.run(0);
    expect(hub.grants).toMatchObject([{ of: 'safety', waitedMs: 5000 }]);
    hub.grants[0]?.settle(true);
    await time.run(0);
    expect(turn.at).toBe(5000);
  });

  it('connects again with the last event when the hub ends the stream, without a word to the user', async () => {
    const hub = fakeHub();
    const { time, link, changes, wakes } = connect(hub);
    await link.watch(['run_1']);
    hub.streams[0]?.send(wake('run_1', '17'));
    await time.run(0);
    hub.streams[0]?.end();
    await time.run(1000);
    expect(hub.streams.map(({ lastId }) => lastId)).toEqual([null, '17']);
    // The hub repeats what it has sent last.
    hub.streams[1]?.send(wake('run_1', '17'));
    hub.streams[1]?.send(wake('run_1', '18'));
    await time.run(0);
    expect(wakes).toEqual(['run_1', 'run_1']);
    expect(changes).toEqual([]);
  });

  it('leaves nothing running when it is closed', async () => {
    const hub = fakeHub();
    const { time, link } = connect(hub);
    await link.watch(['run_1']);
    link.close();
    await time.run(0);
    expect(hub.streams[0]?.ended).toBe(true);
    expect(time.sleeping()).toBe(0);
    await time.run(600_000);
    expect(hub.streams).toHaveLength(1);
  });

  it.each(['is connecting', 'waits before it reconnects'])(
    'leaves nothing running when it is closed while it %s',
    async (state) => {
      const hub = fakeHub((stream) => {
        if (state !== 'is connecting') stream.fail(new NetworkError('refused', 'refused'));
      });
      const { time, link, settledAt } = connect(hub);
      const watched = settledAt(link.watch(['run_1']));
      await time.run(500);
      link.close();
      await time.run(0);
      expect(watched.at).not.toBe(null);
      expect(time.sleeping()).toBe(0);
      expect(hub.streams).toMatchObject([{ ended: true }]);
    },
  );
});

describe('a hub that fails', () => {
  const failures: [string, (stream: FakeStream) => void][] = [
    ['sends nothing', () => {}],
    ['refuses the connection', (stream) => stream.fail(new NetworkError('refused', 'refused'))],
    [
      'sends heartbeats, but is never ready',
      (stream) => {
        for (let sent = 0; sent < 100; sent += 1) stream.send({ type: 'heartbeat' });
      },
    ],
  ];

  it.each(failures)('at the start lets everything pass within 10 s: it %s', async (_name, fail) => {
    const hub = fakeHub(fail);
    const { time, link, changes, settledAt } = connect(hub);
    const watched = settledAt(link.watch(['run_1']).then(() => link.granted('first', 'run_1', never)));
    await time.run(10_000);
    expect(watched.at).toBeLessThan(10_000);
    expect(watched.error).toBe(undefined);
    expect(changes).toHaveLength(1);
    await time.run(300_000);
    expect(changes).toHaveLength(1);
    expect(hub.grants).toEqual([]);
    link.close();
  });

  it('is alive while its heartbeats come', async () => {
    const hub = fakeHub();
    const { time, link, changes } = connect(hub);
    await link.watch(['run_1']);
    for (let at = 3000; at <= 60_000; at += 3000)
      time.at(at, () => hub.streams[0]?.send({ type: 'heartbeat' }));
    await time.run(68_000);
    expect(changes).toEqual([]);
    await time.run(1500);
    expect(changes).toHaveLength(1);
    link.close();
  });

  const broken = new NetworkError('broken', 'the connection broke');

  it('is replaced by another one behind the same URL at once, without a word to the user', async () => {
    const hub = fakeHub(undefined, () => {});
    const { time, link, changes, wakes, settledAt } = connect(hub);
    await link.watch(['run_1']);
    const turn = settledAt(link.granted('create', null, never));
    hub.streams[0]?.send(wake('run_1', '17'));
    await time.run(5000);
    hub.grants[0]?.fail(broken);
    hub.streams[0]?.fail(broken);
    await time.run(0);
    expect(hub.streams.map(({ lastId }) => lastId)).toEqual([null, '17']);
    expect(hub.grants).toMatchObject([{ of: 'create', waitedMs: 5000 }]);
    expect(turn.at).toBe(null);
    hub.streams[1]?.send(wake('run_1', '18'));
    hub.grants[0]?.settle(true);
    await time.run(0);
    expect([turn.at, wakes]).toEqual([5000, ['run_1', 'run_1']]);
    expect(changes).toEqual([]);
    link.close();
  });

  it.each<[string, (stream: FakeStream) => void]>([
    ['cannot be reached again', (stream) => stream.fail(new NetworkError('refused', 'refused'))],
    [
      'breaks soon after the next stream is ready',
      (stream) => {
        stream.send({ type: 'ready' });
        stream.fail(broken);
      },
    ],
  ])('with a broken stream lets everything pass at once if it %s', async (_name, then) => {
    const hub = fakeHub(
      (stream) => (hub.streams.length === 1 ? stream.send({ type: 'ready' }) : then(stream)),
      () => {},
    );
    const { time, link, changes, settledAt } = connect(hub);
    await link.watch(['run_1']);
    const turn = settledAt(link.granted('safety', 'run_1', never));
    await time.run(5000);
    hub.streams[0]?.fail(broken);
    await time.run(0);
    expect(turn.at).toBe(5000);
    expect(changes).toHaveLength(1);
    expect(hub.streams).toHaveLength(2);
    link.close();
  });

  it('is retried after 1, 2, 5, 10, 20 and then every 30 s', async () => {
    const at: number[] = [];
    const hub = fakeHub((stream) => {
      at.push(time.clock.monotonic());
      stream.fail(new NetworkError('refused', 'refused'));
    });
    const { time, link } = connect(hub);
    await link.watch(['run_1']);
    await time.run(100_000);
    expect(at).toEqual([0, 1000, 3000, 8000, 18_000, 38_000, 68_000, 98_000]);
    link.close();
  });
});

const broken = () => new NetworkError('refused', 'refused');

describe('a gate that loses its hub', () => {
  it('sends its requests with jitter, and reports them when the hub is back', async () => {
    let up = true;
    const hub = fakeHub((stream) => (up ? stream.send({ type: 'ready' }) : stream.fail(broken())));
    const draws = [0.1, 0.5, 0.9, 0.25];
    const { time, link, settledAt } = connect(hub, () => draws.shift() ?? 0);
    await link.watch(['run_1', 'run_2']);
    await time.run(1000);
    up = false;
    hub.streams[0]?.fail(broken());
    await time.run(0);
    const reads = ['run_1', 'run_2', 'run_1'].map((run) => settledAt(link.granted('safety', run, never)));
    const create = settledAt(link.granted('create', null, never));
    await time.run(20_000);
    expect(reads.map(({ at }) => at)).toEqual([2000, 6000, 10_000]);
    expect(create.at).toBe(16_000);
    // A later read needs no jitter: the gates are spread by now.
    const later = settledAt(link.granted('safety', 'run_1', never));
    await time.run(0);
    expect(later.at).toBe(21_000);
    up = true;
    await time.run(18_000);
    // The fifth attempt to connect, 38 s after the loss.
    expect(hub.sent).toEqual([{ reads: [37_000, 33_000, 29_000, 18_000], creates: [23_000] }]);
    await link.watch(['run_1']);
    expect(hub.sent).toHaveLength(1);
  });
});

describe('the gates of one process', () => {
  function several(hub: FakeHub) {
    const time = virtualTime();
    const changes: string[] = [];
    const links = new HubLinks(hub.client, { clock: time.clock });
    const open = (name: string) =>
      links.open({ name, onChange: (error) => changes.push(`${name} ${error?.message ?? 'back'}`) });
    return { time, links, changes, open };
  }

  it('share one stream, which is for all of their runs', async () => {
    const hub = fakeHub();
    const { time, links, open } = several(hub);
    const [web, api] = [open('web'), open('api')];
    await Promise.all([web.watch([]), api.watch([])]);
    const woken: string[] = [];
    web.onWake((runId) => woken.push(`web ${runId}`));
    api.onWake((runId) => woken.push(`api ${runId}`));
    await web.watch(['run_1']);
    await time.run(0);
    expect(hub.streams.at(-1)?.runIds).toEqual(['run_1']);
    await api.watch(['run_2']);
    await time.run(0);
    expect(hub.streams.at(-1)?.runIds).toEqual(['run_1', 'run_2']);
    hub.streams.at(-1)?.send(wake('run_2', '1'));
    await time.run(0);
    expect(woken).toEqual(['api run_2']);
    expect(hub.streams.filter(({ ended }) => !ended)).toHaveLength(1);
    web.close();
    hub.streams.at(-1)?.send(wake('run_1', '2'));
    expect(woken).toEqual(['api run_2']);
    links.close();
    await time.run(0);
    expect([hub.streams.at(-1)?.ended, time.sleeping()]).toEqual([true, 0]);
  });

  it('wait together while the hub grants requests of others', async () => {
    const hub = fakeHub(
      (stream) => stream.send({ type: 'ready' }),
      () => {},
    );
    const { time, open, changes } = several(hub);
    const links = [open('a'), open('b'), open('c')];
    await Promise.all(links.map((link) => link.watch([])));
    let ended = 0;
    for (const link of links) void link.granted('create', null, never).then(() => (ended += 1));
    // Each request is held for 20 s, and the hub grants one of another process meanwhile.
    for (let round = 0; round < 15; round += 1) {
      for (let beat = 0; beat < 5; beat += 1) {
        hub.streams.at(-1)?.send({ type: 'heartbeat' });
        await time.run(4_000);
      }
      for (const grant of [...hub.grants]) grant.settle(false, 4_000);
    }
    expect([ended, changes]).toEqual([0, []]);
  });
});
