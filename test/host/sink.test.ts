import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { streamSink } from '../../src/host/sink.ts';

const sinkOf = (columns: number | undefined) =>
  streamSink(Object.assign(new PassThrough(), { isTTY: true, columns }) as unknown as NodeJS.WriteStream);

it.each([
  [120, 120],
  [undefined, undefined],
  // As in a pseudo-terminal that was never given a size: a text for 0 columns would be a word in each line.
  [0, undefined],
])('a terminal that says %j columns has %j', (said, known) => expect(sinkOf(said).columns).toBe(known));
