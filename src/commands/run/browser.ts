import { detectCi } from '../../ci/provider.ts';
import { withoutOwn } from '../../host/children.ts';
import type { Io } from '../../host/io.ts';
import { inCi } from '../../output/motion.ts';

type Environment = Pick<Io, 'env' | 'platform' | 'out'>;

/** Best first. None in a CI, without a terminal, over SSH and without a display; BROWSER overrides them, `none` disables them. */
export function browserCommands({ env, platform, out }: Environment): readonly (readonly string[])[] {
  const filled = (name: string) => env[name]?.trim() || undefined;
  if (!out.isTTY || inCi(env) || detectCi(env).provider !== null) return [];
  const own = filled('BROWSER');
  if (own !== undefined) return own === 'none' ? [] : [own.split(/\s+/)];
  if (platform === 'darwin' || platform === 'win32') {
    if (filled('SSH_CONNECTION') !== undefined) return [];
    // The full path, since Windows looks for a program in the working directory first.
    const system = `${filled('SystemRoot') ?? 'C:\\Windows'}\\System32`;
    return platform === 'darwin' ? [['open']] : [[`${system}\\rundll32.exe`, 'url.dll,FileProtocolHandler']];
  }
  if (filled('WSL_DISTRO_NAME') !== undefined) return [['wslview'], ['xdg-open']];
  return (filled('DISPLAY') ?? filled('WAYLAND_DISPLAY')) === undefined ? [] : [['xdg-open']];
}

/** Opens an address with the first command that works. Returns false if none does. */
export async function openInBrowser(io: Io, address: string): Promise<boolean> {
  for (const command of browserCommands(io)) {
    // A browser passes its environment on to its child processes.
    if (await io.launch([...command, address], withoutOwn(io.env))) return true;
  }
  return false;
}
