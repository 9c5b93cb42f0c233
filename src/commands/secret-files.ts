import type { Io } from '../host/io.ts';
import type { Output } from '../output/output.ts';
import { sanitize } from '../sanitize.ts';

interface Surroundings {
  readonly io: Io;
  readonly output: Output;
}

export const exposedNote = (path: string) =>
  `other users may be able to read your secrets: run chmod 600 ${sanitize(path)}`;

/** Warns if other users may read a file with secrets. Windows has no file modes. @throws a file system error */
export async function warnIfExposed({ io, output }: Surroundings, path: string): Promise<void> {
  if (io.platform !== 'win32' && io.inspect(path).exposed) await output.alert(exposedNote(path));
}

/** Warns, on Windows, that the permissions of the folder apply to a new file with a secret: Windows has no file modes. */
export async function warnOfFolder({ io, output }: Surroundings, path: string): Promise<void> {
  if (io.platform !== 'win32') return;
  await output.warn(
    `Windows has no file modes: everyone who may read its folder can read ${sanitize(path)}`,
    'choose a folder that only you can read, such as one in your user profile',
  );
}
