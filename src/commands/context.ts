import type { Io } from '../host/io.ts';
import { secretParts } from '../options/secret-parts.ts';
import { type Flags, secretIds } from '../options/table.ts';
import { createOutput, type Output } from '../output/output.ts';
import { sanitize } from '../sanitize.ts';
import type { Settings, SomeSettings } from '../settings/names.ts';
import { querySecrets } from '../transport/address.ts';
import { proxySecrets } from '../transport/proxy.ts';
import { loadSettings, type SettingSources, type SourceOptions } from './config/sources.ts';
import { createService, type Service } from './connect.ts';
import { unreadVariables } from './unread-variables.ts';

/** Everything a command uses: it reaches its surroundings only through this. */
export interface Context extends Omit<Service, 'disconnect'> {
  readonly io: Io;
  /** The command line without `rungate`; empty if there is none. */
  readonly argv: readonly string[];
  /** The options of the command line that have rows. */
  readonly flags: Flags;
  readonly settings: Settings;
  readonly sources: SettingSources;
  readonly output: Output;
  /** Closes everything that keeps the process alive. */
  close(): Promise<void>;
}

/** Returns every secret in the settings, so that no output shows one. */
function secretsOf(settings: Settings, { gates, withheld }: SettingSources): string[] {
  const secrets = secretIds.flatMap((id) =>
    [settings[id]?.value ?? []].flat().flatMap((secret) => secretParts(id, secret)),
  );
  const addresses = [settings, ...gates.map((gate) => gate.settings)].flatMap((one) => [
    one['preview.baseUrl']?.value,
    one['preview.readyUrl']?.value,
  ]);
  return [...secrets, ...withheld.map(({ secret }) => secret), ...addresses.flatMap(querySecrets)];
}

/** Returns the format of the result. A script reads tab-separated values; people read the log of the action. */
function formatOf({ out, isLog = false }: Io, { format }: Settings): Pick<Output, 'format' | 'isLog'> {
  if (format !== undefined) return { format: format.value, isLog: false };
  if (out.isTTY) return { format: 'table', isLog: false };
  return { format: isLog ? 'table' : 'plain', isLog };
}

/** Warns of what cannot or will not be read: then the settings are others than the user thinks. */
async function speakOfUnread(io: Io, { unreadable }: SettingSources, output: Output): Promise<void> {
  if (unreadable !== null)
    await output.warn(
      `${sanitize(unreadable.message)}; rungate continues without a profile`,
      unreadable.hint,
    );
  const unread = unreadVariables(io);
  if (unread !== null) await output.warn(unread.problem, unread.remedy);
}

/** Returns a context: settings from all sources, an output that knows every secret, and a client on demand. */
export async function createContext(
  io: Io,
  flags: Flags,
  given: SomeSettings = {},
  options: SourceOptions & Partial<Pick<Context, 'argv'>> = {},
): Promise<Context> {
  const { settings, sources } = await loadSettings(io, flags, given, options);
  const output = await createOutput(io, {
    ...formatOf(io, settings),
    quiet: flags.quiet === true,
    verbose: flags.verbose === true,
    secrets: [...secretsOf(settings, sources), ...proxySecrets(io.env)],
  });
  if (options.showsUnreadable !== true) await speakOfUnread(io, sources, output);
  const { disconnect, ...service } = createService(io, flags, { settings, sources }, output);
  return {
    ...service,
    io,
    argv: options.argv ?? [],
    flags,
    settings,
    sources,
    output,
    async close() {
      output.motion.end();
      await disconnect();
    },
  };
}
