import type { Argument, Command, Option } from 'commander';

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

/** The options under this heading are listed once, not for every command. */
const globalHeading = 'Global options:';

/** Escapes Markdown in the text of a sentence or a table cell. */
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
    // `--version` must precede the command; the introduction describes it.
    const isProgramVersion = command.parent === null && option.long === '--version';
    if (!isProgramVersion && heading(name)) groups.set(name, [...(groups.get(name) ?? []), option]);
  }
  return [...groups]
    .map(([name, options]) => `\n${table([name.replace(/:$/, ''), ''], options.map(optionRow))}`)
    .join('');
}

/** Returns the text after a command's help, with its examples as a block that tests can run. */
function afterHelp(command: Command): string {
  let whole = '';
  command.configureOutput({ writeOut: (text) => (whole += text) }).outputHelp();
  const [text = '', lines] = whole.slice(command.helpInformation().length).split('\nExamples:\n');
  const notes = text.trim() === '' ? '' : `\n\`\`\`text\n${text.replace(/^\n+|\s+$/g, '')}\n\`\`\`\n`;
  if (lines === undefined) return notes;
  const needs = lines.includes('rungate run gates') ? '<!-- with: .rungate.json -->\n\n' : '';
  return `${notes}\n${needs}\`\`\`sh\n${lines.replaceAll(/^ {2}/gm, '').trimEnd()}\n\`\`\`\n`;
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

/** Returns docs/commands.md, generated from the program. */
export function commandsPage(program: Command): string {
  const groups = subcommandsOf(program);
  const headings = [...new Set(groups.map((group) => group.helpGroup()))];
  const link = (group: Command) =>
    [`[\`${nameOf(group)}\`](#${nameOf(group).replaceAll(' ', '-')})`, plain(group.summary())] as const;
  const index = headings.map((heading) => {
    const rows = groups.filter((group) => group.helpGroup() === heading).map(link);
    return table([heading.replace(/:$/, ''), ''], rows);
  });
  return `# Commands

\`rungate <command> --help\` shows the common options of a command, and \`--help --all\` shows all of them, as this page does. Exit codes are in [gate.md](gate.md#exit-codes), settings in
[settings.md](settings.md). \`npm run docs:commands\` generates this page from the program, and tests run its examples.

${index.join('\n')}
## Options of every command

Put them before or after the command's name. \`rungate --version\`, \`rungate -V\` and \`rungate version\` show the version. Write durations as \`250ms\`, \`10s\`, \`5m\` or \`1h\`; a number without a unit is in seconds.
Put variables in quotes. To use the name of an option as a value, write \`=\`: \`--ref=--wait\`.
${optionTables(program, (name) => name === globalHeading)}
## Tables

On a terminal, a list is a table of at most six columns; columns that do not fit are hidden. The last line, on standard error, names the hidden
columns. \`--columns id,name,baseUrl\` shows exactly these fields, with objects as JSON. Cells break only at spaces, so ids and URLs stay whole.

In a file or a pipe, a list has the same columns as tab-separated values, without a header. A missing
field is an empty value. In scripts that must not depend on the order of columns, use \`--json\`.
${groups.map((group) => section(group, 2)).join('')}`;
}
