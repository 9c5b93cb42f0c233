import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../src/version.ts';
import { type Ended, type Running, type Streams, start } from './process.ts';

/** The built command, as npm installs it. `npm test` builds it first. */
export const bin = fileURLToPath(new URL('../../bin/rungate.js', import.meta.url));
/** The command that starts rungate: the package, or a binary (`npm run test:binary`). */
export const program: readonly [string, ...string[]] =
  process.env.E2E_BINARY === undefined ? [process.execPath, bin] : [process.env.E2E_BINARY];
/** A binary takes no `--import`, with which some tests reach into the process. */
export const isBinary = program.length === 1;
/** The same command for a shell. */
export const shellProgram = program.map((word) => `'${word}'`).join(' ');
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Links the built file into a folder's node_modules, where npx finds it. Returns the path of the command. */
export function installInto(folder: string): string {
  const home = join(folder, 'node_modules/rungate');
  const command = join(folder, 'node_modules/.bin/rungate');
  for (const path of [home, dirname(command)]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'rungate', version, bin: 'rungate.sh' }));
  writeFileSync(join(home, 'rungate.sh'), `#!/bin/sh\nexec node '${bin}' "$@"\n`);
  chmodSync(join(home, 'rungate.sh'), 0o755);
  symlinkSync('../rungate/rungate.sh', command);
  return command;
}

export { type Ended, type Running, start };

export function rungate(
  args: readonly string[],
  env: Record<string, string> = {},
  streams: Streams = {},
  cwd?: string,
): Running {
  const [file, ...first] = program;
  return start(file, [...first, ...args], env, cwd, streams);
}
