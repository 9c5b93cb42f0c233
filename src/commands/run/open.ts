import { detectCi } from '../../ci/provider.ts';
import { mismatchError } from '../../client/schema-mismatch.ts';
import { received } from '../../contract/issues.ts';
import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { checkRunId } from '../../gate/run-id.ts';
import { withoutOwn } from '../../host/children.ts';
import type { Io } from '../../host/io.ts';
import { linkTarget } from '../../output/live/hyperlink.ts';
import { inCi } from '../../output/motion.ts';
import type { Context } from '../context.ts';

type Environment = Pick<Io, 'env' | 'platform' | 'out'>;

/** Best first. None in CI, without a terminal, over SSH and without a display; BROWSER overrides them, `none` disables them. */
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

function hasCredential(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
}

/** `rungate run open <runId>`: opens the page of a run, or prints its address if it cannot open a browser. */
export async function openCommand(context: Context, runId: string): Promise<number> {
  checkRunId(runId);
  const { io, output } = context;
  const name = 'run.status';
  const caller = await context.connect();
  const status = await caller.exchange(name, run[name], { params: { runId } }, { check: false });
  const { appUrl } = Object(status.value);
  const address = typeof appUrl === 'string' ? linkTarget(appUrl) : null;
  const mismatch = (what: string) =>
    mismatchError(status.request, { field: 'appUrl', expected: 'an http or https URL', received: what });
  if (address === null) throw mismatch(received(appUrl));
  // Other processes can read the command line of a browser.
  if (hasCredential(address) || output.redact(address) !== address) throw mismatch('one with a credential');
  if (output.format === 'json' || output.format === 'ndjson') {
    const data = { schemaVersion: 1, runId, appUrl: address };
    await output.data(data, { head: [], rows: [] });
  } else if (await openInBrowser(io, address)) {
    await output.note(`opened ${output.excerpt(address, 2000)} in your browser`);
  } else {
    await output.result(`${address}\n`);
  }
  return exitCodes.ok;
}
