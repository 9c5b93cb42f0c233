import { read } from 'node:fs';
import { promisify } from 'node:util';
import { systemClock } from '../clock.ts';
import { partBytes } from './read-file.ts';

const readSome = promisify(read);

/** How long to leave alone a standard input that has nothing yet. */
const emptyMs = 5;

/**
 * Not by a stream: that one fails, and drops what it has read ahead, where standard input does not wait for its writer
 * (EAGAIN). It is so as soon as anybody looks at `process.stdin`, and when the parent process left it so.
 *
 * All parts come in one buffer: each holds until the next is asked for. Nothing is read ahead, since a read that nobody
 * waits for would keep the process.
 */
export async function* streamStdin(): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(partBytes);
  for (;;) {
    try {
      const { bytesRead } = await readSome(0, buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // What Windows says at the end of a pipe.
      if (code === 'EOF') return;
      if (code !== 'EAGAIN') throw error;
      await systemClock.sleep(emptyMs);
    }
  }
}

export async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of streamStdin()) chunks.push(new Uint8Array(chunk));
  return Buffer.concat(chunks);
}
