import type { Command } from 'commander';
import { RungateError } from '../errors.ts';
import type { Io } from '../host/io.ts';
import type { Flags as RowFlags } from '../options/table.ts';
import { ciContext } from './ci-context.ts';
import type { SourceOptions } from './config/sources.ts';
import { type Context, createContext } from './context.ts';
import { addGlobals, type ReadFlags, readOptions } from './options.ts';
import { sayFrom } from './source-names.ts';

interface BoundAction<Flags> extends Omit<SourceOptions, 'newProjectFile' | 'refOf'> {
  /** Refuses options that cannot work together, before anything else. @throws UsageError */
  check?(flags: Flags): void;
  /** Returns the options of the command that this one goes on with, or null. @throws UsageError or ConfigError */
  continues?(io: Io, flags: Flags): Promise<ReadFlags | null>;
  /** The project file in `--config` may not exist yet. */
  newProjectFile?(flags: Flags): boolean;
  /** The exit code is a verdict, so a result whose reader has gone is an error. */
  readonly decides?: boolean;
  /** Returns the exit code. */
  run(context: Context, args: readonly unknown[], flags: Flags): Promise<number>;
}

/** The action of a command that reads no settings, so that a mistake in them cannot stop it. */
interface BareAction<Flags> {
  runBare(io: Io, args: readonly unknown[], flags: Flags): Promise<number>;
}

export type Bind = <Flags>(
  command: Command,
  action: BoundAction<Flags & RowFlags> | BareAction<Flags & RowFlags>,
) => void;

/**
 * @param argv the command line, for messages that repeat it
 * @param done receives the exit code of the command that runs, and its action
 */
export function createBind(
  io: Io,
  argv: readonly string[],
  done: (code: number, action: Pick<BoundAction<never>, 'decides'>) => void,
): Bind {
  return (command, action) => {
    addGlobals(command).action(async (...passed: unknown[]) => {
      // commander passes the positional arguments, then the options, then the command.
      const args = passed.slice(0, -2);
      const raw = mergedOptions(command);
      if ('runBare' in action) return done(await action.runBare(io, args, raw as never), {});
      const given = readOptions(command, raw);
      action.check?.(given.flags as never);
      const { flags: read, settings } = (await action.continues?.(io, given.flags as never)) ?? given;
      const flags = read as never;
      const context = await createContext(io, read, settings, {
        ...action,
        argv,
        newProjectFile: action.newProjectFile?.(flags) === true,
        refOf: async () => read.ref ?? (await ciContext(io)).ref,
      });
      try {
        done(await action.run(context, args, flags), action);
      } catch (error) {
        throw error instanceof RungateError ? error.word(sayFrom(context.settings)) : error;
      } finally {
        await context.close();
      }
    });
  };
}

/** Later options on the command line win, unlike with commander's `optsWithGlobals`. */
function mergedOptions(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : mergedOptions(command.parent);
  return { ...above, ...command.opts() };
}

/** Describes a group of commands, in the list of its parent and in its own help. */
export function summarise(group: Command, summary: string): Command {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return group.summary(summary).description(sentence);
}

/** Adds working examples to a command's help. docs/reference/commands.md shows them too, and a test runs them. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

/** Adds a sentence to the end of a command's help. */
export function note(command: Command, sentence: string): Command {
  const text = `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
  return command.addHelpText('after', () => `\n${command.createHelp().boxWrap(text, 80)}`);
}
