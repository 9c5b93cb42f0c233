import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { streamSink } from '../../src/host/sink.ts';

const sinkOf = (columns: number | undefined) =>
  streamSink(Object.assign(new PassThrough(), { isTTY: true, columns }) as unknown as NodeJS.WriteStream);

it.each([
  [120, 120],
  [undefined, undefined],
  // A pseudo-terminal without a size reports 0. Text wrapped to 0 columns would have one word in each line.
  [0, undefined],
])('a terminal that reports %j columns has the width %j', (reported, width) =>
  expect(sinkOf(reported).columns).toBe(width),
);
