import { type Command, Help, Option } from 'commander';
import { fullName, type OwnCommand, specOf } from '../commands/command.ts';
import { docsPage } from '../repository.ts';

const docs = `Docs: ${docsPage('docs/README.md')}`;

const exitTable = `Exit codes: 0 passed · 1 failed · 2 blocked · 3 timeout · 4 cancelled (strict)
  5 service error · 6 credentials · 7 unreachable · 8 wrong build · 64 usage
  70 bug · 78 configuration · 129, 130, 143 stopped by SIGHUP, SIGINT, SIGTERM`;

/** Returns the usage of a command for 80 columns including `Usage: `. If it is too long, `[options]` moves to a second line. */
function usageOf(command: Command): string {
  const usage = `${fullName(command)} ${command.usage()}`;
  if (usage.length <= 73) return usage;
  return `${usage.replace(' [options]', '')}\n         [options]`;
}

const isOption = (item: unknown) => item instanceof Option;

/** Shows the common options in one list, and none for a group, whose help is about its commands. */
const short: Partial<Help> = {
  visibleOptions: (command) =>
    command.commands.length > 0
      ? []
      : command.options.filter((option) => !option.hidden && specOf(option)?.rare !== true),
  groupItems(all, visible, headingOf) {
    if (!all.some(isOption)) return Help.prototype.groupItems(all, visible, headingOf);
    return new Map(visible.length === 0 ? [] : [['Options:', visible]]);
  },
};

/** Sets the help of a program and its commands. @param isFull whether it shows every option */
export function setHelp(program: OwnCommand, isFull: boolean): OwnCommand {
  program.spec = { name: program.name(), summary: '', notes: `${exitTable}\n\n${docs}`, commands: [] };
  return program
    .configureHelp({
      // The longest option leaves 33 columns for its description.
      minWidthToWrap: 30,
      // Without its arguments: they would leave no room for the description.
      subcommandTerm: (command) => command.name(),
      commandUsage: usageOf,
      ...(isFull ? {} : short),
    })
    .addHelpText('afterAll', ({ command }) => {
      if (isFull) return command === program ? `\n${program.notes}` : '';
      const more = `\nAll options: ${fullName(command)} --help --all\n${docs}`;
      return command === program ? `\n${exitTable}\n${more}` : more;
    });
}
