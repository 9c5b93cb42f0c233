import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

type Target = 'linux-x64' | 'linux-arm64' | 'windows-x64';

/** Returns the path of an executable, which `npm run build` removes. */
export function executableOf(target: Target): string {
  return here(`../dist/binary/${target}/rungate${target.startsWith('windows') ? '.exe' : ''}`);
}

/** Builds an executable from the built program if it is missing. */
export function buildExecutable(target: Target): void {
  if (existsSync(executableOf(target))) return;
  const build = [here('../scripts/build-binary.mjs'), '--target', target];
  execFileSync(process.execPath, build, { stdio: ['ignore', 'ignore', 'inherit'] });
}
