import type { Io } from '../../host/io.ts';

/**
 * Returns the bytes of a file that a setting names. What is no regular file, such as a pipe or `/dev/zero`, could be read for ever.
 * @throws what the file system says; Error for what is no file
 */
export function readRegularFile(io: Pick<Io, 'inspect' | 'readFile'>, path: string): Uint8Array {
  if (!io.inspect(path).isFile) throw new Error('not a file');
  return io.readFile(path);
}
