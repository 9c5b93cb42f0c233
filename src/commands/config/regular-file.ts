import type { Io } from '../../host/io.ts';

/**
 * Returns the bytes of a file that a setting names. A pipe or a device such as `/dev/zero` could be read for ever.
 * @throws the file system's error; Error if it is not a file
 */
export function readRegularFile(io: Pick<Io, 'inspect' | 'readFile'>, path: string): Uint8Array {
  if (!io.inspect(path).isFile) throw new Error('not a file');
  return io.readFile(path);
}
