import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { streamSink } from '../../src/host/sink.ts';
import { turns } from '../until.ts';

/** A stream that accepts nothing while it is not read. */
function blockedStream(isTTY = false, columns?: number) {
  return Object.assign(new PassThrough({ highWaterMark: 0 }), { isTTY, columns });
}

function sinkOf(stream: ReturnType<typeof blockedStream>, isResult: boolean) {
  return streamSink(stream as unknown as NodeJS.WriteStream, { isResult, patienceMs: 0 });
}

it.each([
  [120, 120],
  [undefined, undefined],
  // A pseudo-terminal without a size reports 0. Text wrapped to 0 columns would have one word in each line.
  [0, undefined],
])('a terminal that reports %j columns has the width %j', (reported, width) =>
  expect(sinkOf(blockedStream(true, reported), true).columns).toBe(width),
);

/** Writes a text, and returns whether the write has resolved. */
async function isWritten(write: Promise<void>): Promise<boolean> {
  let written = false;
  void write.then(() => {
    written = true;
  });
  await turns();
  return written;
}

describe('unread standard error', () => {
  it('does not make its writer wait', async () => {
    const sink = sinkOf(blockedStream(), false);
    for (const line of ['one\n', 'two\n']) expect(await isWritten(sink.write(line))).toBe(true);
  });

  it('keeps 1 MiB, drops the rest, and says how many messages it dropped', async () => {
    const stream = blockedStream();
    const sink = sinkOf(stream, false);
    const line = `${'x'.repeat(1023)}\n`;
    for (let at = 0; at < 5000; at += 1) await sink.write(line);
    expect(stream.writableLength).toBeLessThan(1100 * 1024);
    let read = '';
    stream.on('data', (part) => {
      read += part;
    });
    await turns(5000);
    await sink.write('next\n');
    await turns();
    const [, kept = '', dropped] =
      /^((?:x+\n)+)rungate dropped (\d+) messages here.*\nnext\n$/.exec(read) ?? [];
    expect(kept.length / 1024 + Number(dropped)).toBe(5000);
  });

  it('does not keep the process alive', async () => {
    const stream = blockedStream();
    const sink = sinkOf(stream, false);
    await sink.write('one\n');
    await sink.write('two\n');
    const flushed = sink.flushed();
    stream.emit('timeout');
    expect(await flushed).toBe(false);
    expect(sink.failure).toBeNull();
  });
});

describe('unread standard output', () => {
  it('makes its writer wait until the reader reads', async () => {
    const stream = blockedStream();
    const sink = sinkOf(stream, true);
    void sink.write('one\n');
    const write = sink.write('two\n');
    expect(await isWritten(write)).toBe(false);
    stream.resume();
    await write;
    expect(await sink.flushed()).toBe(true);
    expect(sink.failure).toBeNull();
  });

  it('is a failure when the reader has stopped reading, also if it reads again later', async () => {
    const stream = blockedStream();
    const sink = sinkOf(stream, true);
    void sink.write('one\n');
    const write = sink.write('two\n');
    stream.emit('timeout');
    await write;
    expect(sink.failure?.message).toBe('its reader has stopped reading');
    await sink.write('dropped\n');
    stream.resume();
    await turns();
    expect(await isWritten(sink.write('three\n'))).toBe(true);
    expect(sink).toMatchObject({ open: true, failure: expect.any(Error) });
  });
});
