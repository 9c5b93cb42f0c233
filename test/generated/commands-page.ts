import type { Command } from 'commander';
import type { HelpCommand, HelpOption } from '../../src/commands/help-json.ts';
import { describeHelp } from '../../src/commands/help-json.ts';

/** Escapes Markdown in the text of a sentence or a table cell. */
const plain = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');

function table(head: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  return [head, ['---', '---'], ...rows].map(([left, right]) => `| ${left} | ${right} |\n`).join('');
}

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const flagsOf = ({ short, flag, placeholder }: HelpOption) =>
  `${short === undefined ? '' : `${short}, `}${flag}${placeholder === undefined ? '' : ` <${placeholder}>`}`;

/** Groups items by their headings, in order. */
function byGroup<Item extends { readonly group: string }>(items: readonly Item[]): [string, Item[]][] {
  const names = [...new Set(items.map(({ group }) => group))];
  return names.map((name) => [name, items.filter(({ group }) => group === name)]);
}

function optionTables(options: readonly HelpOption[]): string {
  return byGroup(options)
    .map(([name, ones]) => {
      const rows = ones.map((one) => [code(flagsOf(one)), plain(one.description)] as const);
      return `\n${table([name, ''], rows)}`;
    })
    .join('');
}

/** Returns the examples as a block that tests can run. */
function exampleBlock(examples: readonly string[]): string {
  if (examples.length === 0) return '';
  const lines = examples.join('\n');
  const needs = lines.includes('rungate gate') ? '<!-- with: .rungate.json -->\n\n' : '';
  return `\n${needs}\`\`\`sh\n${lines}\n\`\`\`\n`;
}

const linkTo = (name: string) => `[\`${name}\`](#${name.replaceAll(' ', '-')})`;

/** Returns the sentences about the options that earlier commands have with the same meaning. */
function sameOptions(options: readonly HelpOption[], known: ReadonlyMap<string, string>): string {
  const names = [...new Set(options.map((one) => known.get(keyOf(one)) ?? ''))];
  return names
    .map((name) => {
      const flags = options.filter((one) => known.get(keyOf(one)) === name);
      return `\nAs in ${linkTo(name)}: ${flags.map((one) => code(flagsOf(one))).join(', ')}.\n`;
    })
    .join('');
}

const keyOf = (option: HelpOption) => `${flagsOf(option)} ${option.description}`;

/** @param known the command that describes an option, for each option of the commands before this one */
function section(command: HelpCommand, known: Map<string, string>): string {
  const { name, description, usage, notes, examples, commands } = command;
  const options = command.options.filter((one) => !known.has(keyOf(one)));
  const repeated = command.options.filter((one) => known.has(keyOf(one)));
  const same = sameOptions(repeated, known);
  for (const one of options) known.set(keyOf(one), name);
  const depth = Math.min(name.split(' ').length, 4);
  const named = command.arguments.filter((one) => one.description !== '');
  const rows = named.map((one) => [code(one.name), plain(one.description)] as const);
  return [
    `\n${'#'.repeat(depth)} ${name}\n`,
    `\n${plain(description).replaceAll('\n', '\\\n')}\n`,
    commands.length > 0 ? '' : `\n\`\`\`text\n${usage}\n\`\`\`\n`,
    rows.length === 0 ? '' : `\n${table(['Arguments', ''], rows)}`,
    optionTables(options),
    same,
    notes === '' ? '' : `\n\`\`\`text\n${notes}\n\`\`\`\n`,
    exampleBlock(examples),
  ].join('');
}

/** Returns docs/reference/commands.md, generated from the program. */
export function commandsPage(program: Command): string {
  const { globalOptions, commands } = describeHelp(program);
  const [whole, ...below] = commands;
  const known = new Map<string, string>();
  const groups = below.filter(({ name }) => whole?.commands.includes(name));
  const index = byGroup(groups).map(([heading, ones]) => {
    const link = ({ name, summary }: HelpCommand) => [linkTo(name), plain(summary)] as const;
    return table([heading, ''], ones.map(link));
  });
  return `# Commands

\`rungate <command> --help\` shows the common options of a command, and \`--help --all\` shows all of them, as this page does. Exit codes are in [exit-codes.md](exit-codes.md), settings in
[settings.md](settings.md). An option that several commands have with the same meaning is described at the first one. \`npm run generate\` writes this page from the program, and tests run its examples.

${index.join('\n')}
## Options of every command

Put them before or after the command's name. \`rungate --version\`, \`rungate -V\` and \`rungate version\` show the version. Write durations as \`250ms\`, \`10s\`, \`5m\`, \`1h\` or \`1d\`; a number without a unit is in seconds.
Put variables in quotes. To use the name of an option as a value, write \`=\`: \`--ref=--wait\`.
${optionTables(globalOptions)}
## Tables

On a terminal, a list is a table of at most six columns; columns that do not fit are hidden. The last line, on standard error, names the hidden
columns. \`--columns id,name,baseUrl\` shows exactly these fields, with objects as JSON. Cells break only at spaces, so ids and URLs stay whole.

In a file or a pipe, a list has the same columns as tab-separated values, without a header. A missing
field is an empty value. In scripts that must not depend on the order of columns, use \`--json\`.
${below.map((command) => section(command, known)).join('')}`;
}
