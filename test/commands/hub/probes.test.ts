import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { deliver, hub, signedHeaders } from './running-hub.ts';

async function probe(url: string, path: string) {
  const response = await fetch(url + path);
  return { code: response.status, ...((await response.json()) as { status: string; reasons?: string[] }) };
}

/** A clock that differs from the service's by some minutes until it is set right. */
function wrongClock(minutes: number) {
  let offsetMs = minutes * 60_000;
  return {
    clock: { ...systemClock, now: () => systemClock.now() + offsetMs },
    setRight() {
      offsetMs = 0;
    },
  };
}

describe('rungate hub', () => {
  it('lives and is ready', async () => {
    const { url } = await hub();
    expect(await probe(url, '/livez')).toEqual({ code: 200, status: 'ok' });
    expect(await probe(url, '/readyz')).toMatchObject({ code: 200, status: 'ok', redis: null, streams: 0 });
  });

  it.each([
    [10, 'ahead of'],
    [-10, 'behind'],
  ])('says that its clock is wrong if it differs by %i minutes', async (minutes, direction) => {
    const { clock, setRight } = wrongClock(minutes);
    const on = await hub(undefined, { clock });
    const repeated = signedHeaders('[1]');
    for (const [body, headers] of [['[1]', repeated], ['[1]', repeated], ['[2]'], ['[3]']] as const) {
      expect(await probe(on.url, '/readyz')).toMatchObject({ code: 200 });
      expect(await deliver(on.url, body, headers)).toBe(401);
    }
    const reason = new RegExp(`^the clock is (599|600|601) s ${direction} the timestamps of deliveries$`);
    expect(await probe(on.url, '/readyz')).toMatchObject({
      code: 200,
      status: 'degraded',
      reasons: [expect.stringMatching(reason)],
    });
    expect(await probe(on.url, '/livez')).toMatchObject({ code: 200 });
    expect(await (await fetch(`${on.url}/metrics`)).text()).toContain('\nrungate_hub_ready 1\n');
    expect(await deliver(on.url, '[4]')).toBe(401);

    setRight();
    expect(await deliver(on.url, '[5]')).toBe(204);
    expect(await probe(on.url, '/readyz')).toMatchObject({ code: 200, status: 'ok' });
    const [noticed, gone, ...others] = on.events().filter(({ event }) => event === 'clock');
    expect(Math.abs(Number(noticed?.offsetSeconds) - minutes * 60)).toBeLessThan(30);
    expect([gone?.offsetSeconds, others]).toEqual([0, []]);
  });

  it('does not believe the timestamps of a sender without the secret', async () => {
    const { clock } = wrongClock(10);
    const on = await hub(undefined, { clock });
    for (const body of ['[1]', '[2]', '[3]', '[4]'])
      expect(await deliver(on.url, body, signedHeaders(body, 'whook-Secret-of-another'))).toBe(401);
    expect(await probe(on.url, '/readyz')).toMatchObject({ code: 200 });
  });
});
