import { detectCi } from '../../ci/provider.ts';
import type { Io } from '../../host/io.ts';
import { inCi } from '../../output/motion.ts';

type Environment = Pick<Io, 'env' | 'platform' | 'out'>;

/**
 * Returns the commands that open an address in the user's browser, best first. Returns none in a CI, without a terminal, over
 * SSH and without a display. The variable BROWSER overrides the command; `none` disables it.
 */
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
  // A browser passes its environment on to its child processes.
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !/^RUNGATE_/i.test(name)));
  for (const command of browserCommands(io)) {
    if (await io.launch([...command, address], env)) return true;
  }
  return false;
}
