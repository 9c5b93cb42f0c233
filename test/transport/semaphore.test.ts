import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Turns } from '../../src/transport/semaphore.ts';
import { Stop } from '../../src/transport/stop.ts';

test('never more are in than may be, all get in, and nobody who has gone is waited for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { maxLength: 20 }),
      async (most, giveUps) => {
        const turns = new Turns(most);
        let inside = 0;
        const outcomes = giveUps.map(async (givesUp) => {
          const stop = new Stop();
          const entering = turns.take() ? true : turns.wait(stop);
          if (givesUp) stop.call('gone');
          if (!(await entering)) return 'gone';
          inside += 1;
          expect(inside).toBeLessThanOrEqual(most);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
          turns.leave();
          return 'in';
        });
        const got = await Promise.all(outcomes);
        giveUps.forEach((givesUp, index) => {
          if (!givesUp) expect(got[index]).toBe('in');
        });
        // Every place is free again.
        for (let place = 0; place < most; place += 1) {
          expect(turns.take()).toBe(true);
        }
      },
    ),
  );
});

test('they come in the order in which they asked', async () => {
  const turns = new Turns(1);
  const stop = new Stop();
  const order: number[] = [];
  expect(turns.take()).toBe(true);
  const waiting = [1, 2, 3].map(async (number) => {
    await turns.wait(stop);
    order.push(number);
    turns.leave();
  });
  turns.leave();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
});
