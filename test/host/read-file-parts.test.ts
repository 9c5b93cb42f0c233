import { execFileSync } from 'node:child_process';
import { openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { partBytes, readParts, silenceMs, streamFile, withNotice } from '../../src/host/read-file.ts';
import { fakeClock } from '../fake-clock.ts';
import { folderForTest } from '../folders.ts';
import { until } from '../until.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = folderForTest();
  path = join(folder, 'file');
});

/** Returns bytes without repetition, so that a part in the wrong place is noticed. */
const bytesOf = (size: number) =>
  Buffer.from(Uint32Array.from({ length: size / 4 + 1 }, (_, at) => at).buffer, 0, size);

describe('streamFile', () => {
  it.each([0, 1, partBytes - 1, partBytes, partBytes + 1, 5 * partBytes + 3])(
    'yields all of %i bytes in order, in one buffer',
    async (size) => {
      writeFileSync(path, bytesOf(size));
      const read: Uint8Array[] = [];
      const buffers = new Set<unknown>();
      for await (const part of streamFile(path)) {
        buffers.add(part.buffer);
        read.push(new Uint8Array(part));
      }
      expect(Buffer.concat(read).equals(bytesOf(size))).toBe(true);
      expect(buffers.size).toBeLessThanOrEqual(1);
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'closes the file at its end, when the loop is left, and on an error',
    async () => {
      writeFileSync(path, bytesOf(3 * partBytes));
      const open = () => readdirSync('/proc/self/fd').length;
      const before = open();
      for (let time = 0; time < 20; time += 1) {
        for await (const _ of streamFile(path));
        for await (const _ of streamFile(path)) break;
        await streamFile(folder)
          .next()
          .catch(() => {});
      }
      await until(() => open() < before + 20);
    },
  );

  it.skipIf(process.platform === 'win32')('can be left while the writer of a pipe is silent', async () => {
    execFileSync('mkfifo', [path]);
    // Open for reading and writing: otherwise each end would wait for the other.
    const writer = openSync(path, 'r+');
    writeFileSync(writer, 'first');
    const parts = streamFile(path);
    expect(Buffer.from((await parts.next()).value ?? []).toString()).toBe('first');
    await parts.return(undefined);
    writeFileSync(writer, 'last');
  });
});

describe('the notice about silent input', () => {
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

  it('comes once, when the first part takes too long, and no part is lost', async () => {
    const clock = fakeClock();
    let arrive = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    async function* parts() {
      await arrival;
      yield Buffer.from('a');
      await clock.sleep(10 * silenceMs);
      yield Buffer.from('b');
    }
    let notices = 0;
    const notice = () => {
      notices += 1;
      arrive();
    };
    expect(text(await readParts(withNotice(parts(), notice, clock)))).toBe('ab');
    expect(notices).toBe(1);
  });

  it.each(['', 'a'])('does not come for input that arrives at once: %j', async (input) => {
    writeFileSync(path, input);
    const notice = () => expect.unreachable();
    expect(text(await readParts(withNotice(streamFile(path), notice, systemClock)))).toBe(input);
  });
});
