import { describe, expect, it } from 'vitest';
import { createClockCheck } from '../../src/hub/clock-check.ts';

const minute = 60_000;

function check() {
  let now = 0;
  const changes: number[] = [];
  const clock = createClockCheck(
    () => now,
    (offset) => changes.push(offset),
  );
  return {
    ...clock,
    changes,
    pass(ms: number) {
      now += ms;
    },
    refuse: (...ages: readonly number[]) => {
      for (const age of ages) clock.refused(age, `delivery with age ${age}`);
    },
  };
}

describe('the clock is wrong', () => {
  it('after three deliveries in a row that are off by a similar time', () => {
    const { refuse, offsetSeconds, changes } = check();
    refuse(604, 601.2);
    expect(offsetSeconds()).toBeNull();
    refuse(603);
    expect(offsetSeconds()).toBe(601);
    refuse(602, 605, 604);
    expect(changes).toEqual([601]);
  });

  it('also if the timestamps are ahead', () => {
    const { refuse, offsetSeconds, changes } = check();
    refuse(-600, -599, -590);
    expect(offsetSeconds()).toBe(-600);
    expect(changes).toEqual([-600]);
  });

  it('until the next accepted delivery', () => {
    const { refuse, accepted, offsetSeconds, changes } = check();
    refuse(600, 601, 602);
    accepted();
    expect(offsetSeconds()).toBeNull();
    accepted();
    expect(changes).toEqual([600, 0]);
    refuse(610, 611, 612);
    expect(changes).toEqual([600, 0, 610]);
  });

  it('for five minutes after the last such delivery', () => {
    const { refuse, pass, offsetSeconds } = check();
    refuse(600, 601, 602);
    pass(4 * minute);
    refuse(603);
    pass(4 * minute);
    expect(offsetSeconds()).toBe(601);
    pass(minute);
    expect(offsetSeconds()).toBeNull();
    refuse(600, 601);
    expect(offsetSeconds()).toBeNull();
  });
});

describe('the clock is not wrong', () => {
  it.each<[string, readonly number[]]>([
    ['after two deliveries', [600, 601]],
    ['after old deliveries of different ages', [600, 700, 800, 900, 1000]],
    ['after deliveries that are off in both directions', [600, -600, 601, -601, 602, -602]],
    ['after one delivery that is repeated', [600, 600, 600, 600]],
    ['after two deliveries that are repeated', [600, 601, 600, 601, 600, 601]],
  ])('%s', (_when, ages) => {
    const { refuse, offsetSeconds, changes } = check();
    refuse(...ages);
    expect(offsetSeconds()).toBeNull();
    expect(changes).toEqual([]);
  });

  it('if an accepted delivery is in between', () => {
    const { refuse, accepted, offsetSeconds } = check();
    refuse(600, 601);
    accepted();
    refuse(602, 603);
    expect(offsetSeconds()).toBeNull();
  });
});
