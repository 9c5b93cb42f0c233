import { gatesPath } from '../../settings/locate.ts';
import type { SavedGates } from '../../slice/state.ts';
import { readToken, tokenOf } from '../../slice/token.ts';
import type { Context } from '../context.ts';

/**
 * The file with the gates of this user that go on: a token for each work tree and request.
 * @param usual the name of the entry
 * @param id of a gate that goes on: its entry keeps its name, although the request may have another commit now
 */
export function gatesFile({ io, output }: Context, usual: string, id?: string) {
  const path = gatesPath(io);
  const file = path === null ? null : io.stateFile(path);
  let usable = file !== null;
  const giveUp = async (why: string) => {
    usable = false;
    await output.alert(
      `${output.paint('warn', 'warning:')} ${output.excerpt(why)}: if this command is killed, use the last command that it names, since rungate cannot find its run again by itself`,
    );
  };
  const parse = (text: string): Record<string, string> => {
    try {
      const { gates } = JSON.parse(text);
      return Object.fromEntries(
        Object.entries(gates).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      );
    } catch {
      return {};
    }
  };
  const nameIn = (all: Record<string, string>) =>
    Object.keys(all).find((name) => id !== undefined && readToken(all[name] ?? '')?.id === id) ?? usual;
  const write = (gates: Record<string, string>) => `${JSON.stringify({ version: 1, gates })}\n`;
  let changes = Promise.resolve();
  /** `edit` returns the new token of the gates, given the saved ones; null to forget them, and undefined for no change. */
  const change = (edit: (saved: SavedGates | null) => SavedGates | null | undefined) => {
    changes = changes.then(async () => {
      if (!usable || file === null) return;
      try {
        await file.change({ parse, write }, (all) => {
          const name = nameIn(all);
          const token = all[name];
          const edited = edit(token === undefined ? null : readToken(token));
          if (edited === undefined) return all;
          const live = Object.entries(all).filter(
            ([other, text]) => other !== name && (readToken(text)?.endsAt ?? 0) > io.clock.now(),
          );
          return Object.fromEntries(edited === null ? live : [...live, [name, tokenOf(edited)]]);
        });
      } catch (error) {
        await giveUp(`${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
      }
    });
    return changes;
  };
  return {
    async read(): Promise<SavedGates | null> {
      if (file === null) {
        await giveUp(
          'there is no folder for the state of rungate: neither HOME nor RUNGATE_CONFIG_DIR is set',
        );
        return null;
      }
      try {
        const all = parse(file.read()?.text ?? '');
        const token = all[nameIn(all)];
        return token === undefined ? null : readToken(token);
      } catch (error) {
        await giveUp(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
        return null;
      }
    },
    change,
  };
}
