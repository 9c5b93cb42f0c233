import type { Command } from 'commander';
import { ciContext } from './ci-context.ts';
import { type Act, optionIdsOf } from './command.ts';
import { createContext } from './context.ts';
import { type ReadFlags, readOptions } from './options.ts';
import type { Bare, BareSpec, CommandSpec } from './spec.ts';

/**
 * Returns what makes a command run.
 * @param argv the command line, for messages that repeat it
 * @param done receives the exit code of the command that runs, and its spec
 */
export const actWith =
  (bare: Bare, argv: readonly string[], done: (code: number, spec: CommandSpec | BareSpec) => void): Act =>
  (command, spec) => {
    command.action(async (...passed: unknown[]) => {
      const names = command.registeredArguments.map((argument) => argument.name());
      // commander passes the positional arguments, then the options, then the command.
      const args = Object.fromEntries(names.map((name, at) => [name, passed[at]]));
      const raw = mergedOptions(command);
      const code =
        spec.settings === false
          ? await spec.run(bare, args, raw)
          : await runWith(bare, argv, spec, args, readOptions(optionIdsOf(command), raw));
      done(code, spec);
    });
  };

async function runWith(
  { io }: Bare,
  argv: readonly string[],
  spec: CommandSpec,
  args: Readonly<Record<string, unknown>>,
  given: ReadFlags,
): Promise<number> {
  spec.check?.(given.flags, argv);
  const continued = (await spec.continues?.(io, given.flags)) ?? null;
  const { flags, settings } = continued ?? given;
  const context = await createContext(io, flags, settings, {
    ...spec,
    argv,
    newProjectFile: spec.newProjectFile?.(flags) === true,
    refOf: async () => flags.ref ?? (await ciContext(io)).ref,
  });
  try {
    return await spec.run(context, args as never, flags, continued?.resumed);
  } finally {
    await context.close();
  }
}

/** Later options on the command line win, unlike with commander's `optsWithGlobals`. */
function mergedOptions(command: Command): Record<string, unknown> {
  const above = command.parent === null ? {} : mergedOptions(command.parent);
  return { ...above, ...command.opts() };
}
