import { RungateError } from '../../errors.ts';
import { gatesPath } from '../../settings/locate.ts';
import type { SavedGates } from '../../slice/state.ts';
import { readToken, tokenOf } from '../../slice/token.ts';
import type { Context } from '../context.ts';

/** The gates of a user, by hashes of their work trees and requests. */
export type KnownGates = Readonly<Record<string, SavedGates>>;

/** A gate that has ended stays for a day, so that its token can be read again. */
const keptMs = 24 * 60 * 60_000;

function parse(text: string): Record<string, SavedGates> {
  try {
    const entries = Object.entries(JSON.parse(text).gates).flatMap(([name, token]) => {
      const saved = typeof token === 'string' ? readToken(token) : null;
      return saved === null ? [] : [[name, saved] as const];
    });
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

function write(gates: KnownGates): string {
  const tokens = Object.entries(gates).map(([name, saved]) => [name, tokenOf(saved)]);
  return `${JSON.stringify({ version: 1, gates: Object.fromEntries(tokens) })}\n`;
}

/** The file with the gates of this user that go on, or have ended. If it cannot be used, rungate warns and continues without it. */
export function gatesFile({ io, output }: Context) {
  const path = gatesPath(io);
  const file = path === null ? null : io.stateFile(path);
  let usable = true;
  const giveUp = async (why: string) => {
    usable = false;
    await output.alert(
      `${output.paint('warn', 'warning:')} ${output.excerpt(why)}: if this command is killed, rungate cannot find its run again`,
    );
  };
  const attempt = async <T>(what: string, work: () => T | Promise<T>): Promise<T | undefined> => {
    if (!usable) return undefined;
    try {
      return await work();
    } catch (error) {
      if (error instanceof RungateError) throw error;
      await giveUp(`${path} cannot be ${what} (${(error as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  };
  let changes = Promise.resolve();
  return {
    /** Whether another command will find what was written. */
    isUsable: () => usable,
    async read(): Promise<KnownGates> {
      if (file !== null) return (await attempt('read', () => parse(file.read()?.text ?? ''))) ?? {};
      await giveUp('there is no folder for the state of rungate: neither HOME nor RUNGATE_CONFIG_DIR is set');
      return {};
    },
    /** Calls `edit` under the lock of the file; it returns the entry to write, if any. @throws the errors of `edit` */
    change(
      edit: (known: KnownGates) => readonly [name: string, gates: SavedGates] | undefined,
    ): Promise<void> {
      const changed = changes.then(() =>
        attempt('written', () =>
          file?.change({ parse, write }, (known) => {
            const edited = edit(known);
            if (edited === undefined) return known;
            const [name, gates] = edited;
            const others = Object.entries(known).filter(
              ([other, { endsAt }]) => other !== name && endsAt > io.clock.now() - keptMs,
            );
            return Object.fromEntries([...others, [name, gates]]);
          }),
        ),
      );
      changes = changed.catch(() => {});
      return changed;
    },
  };
}
