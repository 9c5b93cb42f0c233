import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A named pipe without room for another byte, whose reader does not read. */
export interface FullPipe {
  /** The end for a child process. */
  readonly fd: number;
  /** Reads everything that is in the pipe now. */
  read(): string;
  close(): void;
}

export function fullPipe(): FullPipe {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-pipe-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const own = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, 'w');
  /** Calls back until the pipe has no more room, or no more data. */
  const repeat = (step: () => unknown) => {
    try {
      for (;;) step();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  };
  repeat(() => writeSync(own, '.'.repeat(4096)));
  repeat(() => writeSync(own, '.'));
  return {
    fd,
    read() {
      const parts: Buffer[] = [];
      const part = Buffer.alloc(64 * 1024);
      repeat(() => parts.push(Buffer.from(part.subarray(0, readSync(own, part)))));
      return Buffer.concat(parts).toString().replace(/^\.+/, '');
    },
    close() {
      closeSync(own);
      closeSync(fd);
      rmSync(folder, { recursive: true });
    },
  };
}
