import type { Argument, Command, Option } from 'commander';

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

/** What is the same for every command is said once. */
const globalHeading = 'Global options:';

/** Text in a table's cell, or in a sentence: nothing in it is markup. */
const plain = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');

function table(head: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  return [head, ['---', '---'], ...rows].map(([left, right]) => `| ${left} | ${right} |\n`).join('');
}

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const optionRow = ({ flags, description }: Option) => [code(flags), plain(description)] as const;
const argumentRow = (argument: Argument) => [code(argument.name()), plain(argument.description)] as const;

const subcommandsOf = (command: Command) => command.createHelp().visibleCommands(command);

function optionTables(command: Command, heading: (name: string) => boolean): string {
  const groups = new Map<string, Option[]>();
  for (const option of command.createHelp().visibleOptions(command)) {
    const name = option.helpGroupHeading ?? 'Options:';
    // It stands before any command, and is said in a sentence.
    const isProgramVersion = command.parent === null && option.long === '--version';
    if (!isProgramVersion && heading(name)) groups.set(name, [...(groups.get(name) ?? []), option]);
  }
  return [...groups]
    .map(([name, options]) => `\n${table([name.replace(/:$/, ''), ''], options.map(optionRow))}`)
    .join('');
}

/** What stands below a command's help: its examples as a block that can be run, all else as it is. */
function afterHelp(command: Command): string {
  let whole = '';
  command.configureOutput({ writeOut: (text) => (whole += text) }).outputHelp();
  const [text = '', lines] = whole.slice(command.helpInformation().length).split('\nExamples:\n');
  const said = text.trim() === '' ? '' : `\n\`\`\`text\n${text.replace(/^\n+|\s+$/g, '')}\n\`\`\`\n`;
  return lines === undefined
    ? said
    : `${said}\n\`\`\`sh\n${lines.replaceAll(/^ {2}/gm, '').trimEnd()}\n\`\`\`\n`;
}

function section(command: Command, depth: number): string {
  const subcommands = subcommandsOf(command);
  const named = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    `\n${'#'.repeat(depth)} ${nameOf(command)}\n`,
    `\n${plain(command.description()).replaceAll('\n', '\\\n')}\n`,
    subcommands.length > 0 ? '' : `\n\`\`\`text\n${nameOf(command)} ${command.usage()}\n\`\`\`\n`,
    named.length === 0 ? '' : `\n${table(['Arguments', ''], named.map(argumentRow))}`,
    optionTables(command, (name) => name !== globalHeading),
    afterHelp(command),
    ...subcommands.map((one) => section(one, Math.min(depth + 1, 4))),
  ].join('');
}

/** docs/commands.md, from the program itself. */
export function commandsPage(program: Command): string {
  const groups = subcommandsOf(program);
  const index = groups.map(
    (group) =>
      [`[\`${nameOf(group)}\`](#${nameOf(group).replaceAll(' ', '-')})`, plain(group.summary())] as const,
  );
  return `# Commands

Made from the program itself by \`npm run docs:commands\`; a test fails while this page says something else, and another one
runs its examples. \`rungate <command> --help\` shows the same in a terminal. Exit codes are in [gate.md](gate.md#exit-codes), settings in
[settings.md](settings.md).

${table(['Command', ''], index)}
## Options of every command

They may stand before the command's name or after it; \`rungate --version\` shows the version. Durations are \`250ms\`, \`10s\`, \`5m\`, \`1h\`; a bare number is seconds.
An option of the command is not taken as a value, unless it stands behind \`=\`: \`--ref=--wait\`. Put variables in quotes.
${optionTables(program, (name) => name === globalHeading)}
## Tables

On a terminal a list is a table of at most six columns, without those that have no room. The last line, on standard error, names the hidden
columns. \`--columns id,name,baseUrl\` shows exactly these fields, objects as JSON. A cell breaks at spaces only: ids and addresses stay whole.

Where standard output is not a terminal, a list is tab-separated values without a head, with the same columns and the same \`--columns\`. A missing
field is an empty value. For scripts that must not depend on the order of columns, use \`--json\`.
${groups.map((group) => section(group, 2)).join('')}`;
}
