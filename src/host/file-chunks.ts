import { close, open, read } from 'node:fs';
import { promisify } from 'node:util';

const [openFile, readSome, closeFile] = [promisify(open), promisify(read), promisify(close)];

/** Four times Node's own: a large file is read at the rate of its disk, and the memory is still next to nothing. */
export const partBytes = 256 * 1024;

/**
 * A file in parts; each holds until the next is asked for. While one is looked at, the next is read into the other of
 * two buffers. Not a stream, which takes a new buffer for each part: the collector lets some 64 MiB of them gather on
 * Node 24 and later, 32 MiB before.
 * @throws what the file system says, when the first part is asked for or at the part that cannot be read
 */
export async function* fileParts(path: string): AsyncGenerator<Uint8Array> {
  const file = await openFile(path, 'r');
  const readInto = (buffer: Buffer) => readSome(file, buffer, 0, buffer.length, null);
  let [current, other] = [Buffer.allocUnsafeSlow(partBytes), Buffer.allocUnsafeSlow(partBytes)];
  let ahead = readInto(current);
  try {
    for (;;) {
      const { bytesRead } = await ahead;
      if (bytesRead === 0) return;
      ahead = readInto(other);
      // Whoever leaves before the end never asks what came of it.
      ahead.catch(() => {});
      yield current.subarray(0, bytesRead);
      [current, other] = [other, current];
    }
  } finally {
    // Not waited for: the writer of a named pipe may rest for as long as it likes.
    const shut = () => closeFile(file);
    void ahead.then(shut, shut).catch(() => {});
  }
}
