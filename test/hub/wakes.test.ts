import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { SharedWakes, Wakes } from '../../src/hub/wakes.ts';
import { until } from '../until.ts';

const day = 24 * 60 * 60_000;
/** Collects the ids of some that a hub passes on, from a time on. */
function hear(wakes: Wakes, ids: readonly string[], since = 0) {
  const heard: string[] = [];
  const end = wakes.subscribe(ids, since, ({ id }) => heard.push(id));
  return { heard, end };
}

describe('wake-ups', () => {
  it('reach those who wait for them, each once and in order, and no one who has stopped', () => {
    const wakes = new Wakes(() => 1);
    const [one, other] = [hear(wakes, ['run_1', 'run_3']), hear(wakes, ['run_1', 'run_2', 'run_3'])];
    wakes.announce(['run_1', 'run_2']);
    one.end();
    wakes.announce(['run_3']);
    expect([one.heard, other.heard]).toEqual([['run_1'], ['run_1', 'run_2', 'run_3']]);
  });

  it('are remembered for a day, at their last naming', () => {
    let now = 1_000;
    const wakes = new Wakes(() => now);
    wakes.announce(['run_1', 'run_2']);
    now = 90_000;
    wakes.announce(['run_2']);
    const runs = ['run_1', 'run_2', 'other'];
    expect(hear(wakes, runs).heard).toEqual(['run_1', 'run_2']);
    // The clocks of hubs may differ by a minute.
    expect(hear(wakes, runs, 150_000).heard).toEqual(['run_2']);
    now = 3_000 + day;
    expect(hear(wakes, runs).heard).toEqual(['run_2']);
  });
});

/** The stream of one Redis. */
class Stream {
  isDown = false;
  #entries: [entry: string, hub: string, id: string][] = [];

  async announce(ids: readonly string[], hub: string): Promise<void> {
    if (this.isDown) throw new Error('Redis is away');
    for (const id of ids) this.#entries.push([`${Date.now()}-${this.#entries.length}`, hub, id]);
  }

  async announced(after: string) {
    if (this.isDown) throw new Error('Redis is away');
    const order = (entry: string) => entry.split('-').map(Number) as [number, number];
    const [time, count] = order(after);
    return this.#entries.filter(([entry]) => {
      const [at, number] = order(entry);
      return at > time || (at === time && number > count);
    });
  }
}

describe('hubs on one Redis', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  function hubOn(stream: Stream) {
    const wakes = new SharedWakes(stream, systemClock);
    ends.push(() => wakes.close());
    return { wakes, ids: hear(wakes, ['run_1', 'run_2']).heard };
  }

  it('wake the gates of each other, and their own gates once', async () => {
    const stream = new Stream();
    const [one, other] = [hubOn(stream), hubOn(stream)];
    one.wakes.announce(['run_1']);
    await until(() => other.ids.length > 0);
    other.wakes.announce(['run_2']);
    await until(() => one.ids.includes('run_2'));
    expect([one.ids, other.ids]).toEqual([
      ['run_1', 'run_2'],
      ['run_1', 'run_2'],
    ]);
  });

  it('know the ids of the time before they started', async () => {
    const stream = new Stream();
    hubOn(stream).wakes.announce(['run_1']);
    const later = hubOn(stream);
    await until(() => hear(later.wakes, ['run_1']).heard.length > 0);
  });
});
