import type { Command } from 'commander';
import type { Io } from '../host/io.ts';
import type { SomeSettings } from '../settings/names.ts';
import { type Context, createContext } from './context.ts';
import { addGlobals, type GlobalOptions } from './global-options.ts';

/** The action of a command after its arguments are parsed. */
export interface Action<Flags> {
  /** Returns the settings from the command's own options. */
  settings?(flags: Flags): Promise<SomeSettings>;
  /** The profile in `--profile` may not exist yet. */
  readonly newProfile?: boolean;
  /** The project file in `--config` may not exist yet. */
  newProjectFile?(flags: Flags): boolean;
  /** The command changes the profile, so an unreadable one is an error. */
  readonly changesProfile?: boolean;
  /** The command itself reports an unreadable profiles file. */
  readonly showsUnreadable?: boolean;
  /** Does the work and returns the exit code. */
  run(context: Context, args: readonly unknown[], flags: Flags): Promise<number>;
}

/** The action of a command that reads no settings, so that a mistake in them cannot stop it. */
export interface BareAction<Flags> {
  runBare(io: Io, args: readonly unknown[], flags: Flags): Promise<number>;
}

/** Binds a command to its action. */
export type Bind = <Flags>(
  command: Command,
  action: Action<Flags & GlobalOptions> | BareAction<Flags & GlobalOptions>,
) => void;

/** @param done receives the exit code of the command that runs */
export function createBind(io: Io, done: (code: number) => void): Bind {
  return (command, action) => {
    addGlobals(command).action(async (...given: unknown[]) => {
      // commander passes the positional arguments, then the options, then the command.
      const args = given.slice(0, -2);
      const flags = mergedOptions(command) as never;
      if ('runBare' in action) return done(await action.runBare(io, args, flags));
      const own = (await action.settings?.(flags)) ?? {};
      const { ref } = flags as { ref?: string };
      const context = await createContext(io, flags, own, {
        newProfile: action.newProfile === true,
        newProjectFile: action.newProjectFile?.(flags) === true,
        changesProfile: action.changesProfile === true,
        showsUnreadable: action.showsUnreadable === true,
        refOf: async () => ref ?? (await (await import('./ci-context.ts')).ciContext(io)).ref,
      });
      try {
        done(await action.run(context, args, flags));
      } finally {
        await context.close();
      }
    });
  };
}

/** Returns the options of the command and its parents; later ones on the command line win. */
function mergedOptions(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : mergedOptions(command.parent);
  return { ...above, ...command.opts() };
}

/** Describes a group of commands, in the list of its parent and in its own help. */
export function summarise(group: Command, summary: string): Command {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return group.summary(summary).description(sentence);
}

/** Adds working examples to a command's help. docs/commands.md shows them too, and a test runs them. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
