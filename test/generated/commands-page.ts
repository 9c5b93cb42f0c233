import type { Command } from 'commander';
import type { HelpCommand, HelpOption } from '../../src/commands/help-json.ts';
import { describeHelp } from '../../src/commands/help-json.ts';

type Row = readonly string[];

/** Escapes Markdown in the text of a sentence or a table cell. */
const plain = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');

function table(head: Row, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return `\n${lines.join('')}`;
}

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const linkTo = (name: string, text = name) => `[\`${text}\`](#${name.replaceAll(' ', '-')})`;
const flagsOf = ({ short, flag, placeholder }: HelpOption) =>
  `${short === undefined ? '' : `${short}, `}${flag}${placeholder === undefined ? '' : ` <${placeholder}>`}`;
const optionRow = (one: HelpOption): Row => [code(flagsOf(one)), plain(one.description)];
const flagList = (options: readonly HelpOption[]) => options.map(({ flag }) => code(flag)).join(', ');

/** Groups items by a text, in order. */
function groupBy<Item>(items: readonly Item[], textOf: (item: Item) => string): [string, Item[]][] {
  const names = [...new Set(items.map(textOf))];
  return names.map((name) => [name, items.filter((item) => textOf(item) === name)]);
}

/** Returns the examples as a block that tests can run. Examples that end an item come last, because others need the item. */
function exampleBlock(examples: readonly string[]): string {
  if (examples.length === 0) return '';
  const last = examples.filter((line) => / (archive|delete) /.test(line));
  const lines = [...examples.filter((line) => !last.includes(line)), ...last.toReversed()].join('\n');
  const needs = lines.includes('rungate gate') ? '<!-- with: .rungate.json -->\n\n' : '';
  return `\n${needs}\`\`\`sh\n${lines}\n\`\`\`\n`;
}

/** The pages that describe the options of a command: all of them, or those under one heading of its help. */
const optionsElsewhere: Readonly<Record<string, string>> = {
  'rungate gate: Preview deployment': '[Preview deployments](../how-to/previews.md#the-steps)',
  'rungate gate: Deployed build': '[Deployed builds](deployed-build.md)',
  'rungate run trigger: Wait options': '[Waiting](waiting.md) and [Strict](verdicts.md#strict)',
  'rungate login: Which secret': '[Secrets](settings.md#secrets)',
  'rungate logout: Which secrets (default: all)': '[Secrets](settings.md#secrets)',
  'rungate selftest': '[Test your pipeline step](../how-to/selftest.md)',
  'rungate webhooks verify': '[Webhooks](webhooks.md#verify)',
  'rungate webhooks listen': '[Webhooks](webhooks.md#listen)',
  'rungate mock serve': '[The mock](mock.md#options)',
  'rungate hub': '[The hub](hub.md)',
  'rungate receipt verify': '[Receipts](receipts.md#verify)',
};

/** The notes that another page has. */
const notesElsewhere: Readonly<Record<string, string>> = {
  'rungate mock serve': '',
  'rungate mock exec': '',
  'rungate completion': '[Shell completion](platforms.md#shell-completion) shows the line for each shell.',
};

/** The names of shared options that commands take together. */
const sets: Readonly<Record<string, readonly string[]>> = {
  'list options': ['--columns', '--page', '--page-size', '--all'],
  'body options': ['--field', '--json-field', '--input'],
};

/** Returns the list of shared options, with the name of a set instead of its options. */
function sharedList(options: readonly HelpOption[]): string {
  const flags = options.map(({ flag }) => flag);
  const complete = Object.entries(sets).filter(([, all]) => all.every((flag) => flags.includes(flag)));
  const inSets = complete.flatMap(([, all]) => all);
  const others = options.filter(({ flag }) => !inSets.includes(flag));
  const names = complete.map(([name]) => `[${name}](#shared-options)`);
  return [...names, ...others.map(({ flag }) => code(flag))].join(', ');
}

const keyOf = (option: HelpOption) => `${flagsOf(option)} ${option.description}`;
/** Returns the name of the command directly below the program: `rungate env vars list` is in `rungate env`. */
const topOf = (name: string) => name.split(' ').slice(0, 2).join(' ');

/**
 * Returns where the page describes each option: the first command that has it, or '' for the table of shared options, which has
 * those of several groups. Options of the gate are described there.
 */
function homesOf(commands: readonly HelpCommand[]): Map<string, string> {
  const users = new Map<string, string[]>();
  for (const { name, options } of commands)
    for (const one of options) users.set(keyOf(one), [...(users.get(keyOf(one)) ?? []), name]);
  return new Map(
    [...users].map(([key, [first = '', ...others]]) => {
      const isShared = first !== 'rungate gate' && others.some((name) => topOf(name) !== topOf(first));
      return [key, isShared ? '' : first];
    }),
  );
}

/** The option that a table of commands leaves out: the page describes `--yes` once. */
const confirmation = ' This cannot be undone, and requires confirmation or --yes.';
const sameText = (description: string, summary: string) =>
  description.toLowerCase() === `${summary}.`.toLowerCase();

const credentialLine = /\nCredential: (.*?)\.?$/m;
const credentialOf = ({ description }: HelpCommand) => credentialLine.exec(description)?.[1] ?? '';

/** Returns the description of a command without its confirmation, and without the credential if its group names it. */
const shortText = (description: string, credential: string) =>
  (credential === '' ? description : description.replace(credentialLine, '')).replace(confirmation, '');

/** Returns the descriptions that several commands give for an argument, with the argument's names. */
function sharedArguments(commands: readonly HelpCommand[]): Map<string, string[]> {
  const all = commands.flatMap((one) => one.arguments).filter(({ description }) => description !== '');
  const groups = groupBy(all, ({ description }) => description).filter(([, ones]) => ones.length > 1);
  return new Map(groups.map(([text, ones]) => [text, [...new Set(ones.map(({ name }) => name))]]));
}

/** Returns the usage and the arguments of a command that takes any. */
function usageOf({ usage, arguments: all }: HelpCommand): string {
  if (all.length === 0) return '';
  const described = all.filter(({ description }) => description !== '');
  const texts = described.map((one) => `${code(one.name)}: ${plain(one.description)}`);
  return `\nUsage: ${[code(usage), ...texts].join('; ')}.\n`;
}

/** Returns the table of options under one heading, or a link to the page that has it. */
function optionTable(name: string, group: string, options: readonly HelpOption[]): string {
  const page = optionsElsewhere[`${name}: ${group}`] ?? optionsElsewhere[name];
  if (page === undefined) return table([group, ''], options.map(optionRow));
  const flags = options.map((one) => code(flagsOf(one))).join(', ');
  return `\nOptions in ${page}: ${flags}.\n`;
}

/** Writes the sections of the commands. It remembers the notes that it has written, to write each only once. */
class Sections {
  readonly homes: ReadonlyMap<string, string>;
  readonly written = new Map<string, string>();
  readonly commands: readonly HelpCommand[];

  constructor(commands: readonly HelpCommand[]) {
    this.commands = commands;
    this.homes = homesOf(commands);
  }

  /** Returns the options of a command that the page describes elsewhere. */
  elsewhere({ name, options }: HelpCommand): string[] {
    const homeOf = (one: HelpOption) => this.homes.get(keyOf(one)) ?? '';
    const repeated = options.filter((one) => homeOf(one) !== name);
    const sharedFirst = repeated.toSorted((a, b) => Number(homeOf(a) !== '') - Number(homeOf(b) !== ''));
    return groupBy(sharedFirst, homeOf).map(([home, ones]) => {
      const owner = this.commands.find((one) => one.name === home);
      if (owner === undefined) return sharedList(ones);
      // Options that the command takes with another meaning are in its own tables.
      const own = options.map(({ flag }) => flag);
      const others = this.ownOptions(owner).filter(({ flag }) => !own.includes(flag));
      if (others.length === 0) return `those listed under ${linkTo(home)}`;
      const isMost = ones.length > 8 && others.length < ones.length;
      return isMost
        ? `those listed under ${linkTo(home)}, except ${flagList(others)}`
        : `as in ${linkTo(home)}: ${flagList(ones)}`;
    });
  }

  ownOptions = ({ name, options }: HelpCommand) =>
    options.filter((one) => this.homes.get(keyOf(one)) === name);

  /** Returns the notes, without paragraphs of an earlier command, which it links. */
  notes({ name, notes }: HelpCommand): string {
    const other = notesElsewhere[name];
    if (other !== undefined) return other === '' ? '' : `\n${other}\n`;
    const parts = notes.split('\n\n').filter((part) => part !== '');
    const fresh = parts.filter((part) => !this.written.has(part));
    const homes = parts.flatMap((part) => this.written.get(part) ?? []);
    for (const part of fresh) this.written.set(part, name);
    const see = [...new Set(homes)].map((home) => `\nSee also the notes of ${linkTo(home)}.\n`);
    const block = fresh.length === 0 ? '' : `\n\`\`\`text\n${fresh.join('\n\n')}\n\`\`\`\n`;
    return `${block}${see.join('')}`;
  }

  /** Whether a row in the table of its group says everything about a command. */
  isRow(command: HelpCommand): boolean {
    return command.notes === '' && this.ownOptions(command).length <= 1 && command.options.length <= 6;
  }

  /** Returns the section of one command. */
  section(command: HelpCommand, depth: number, credential = ''): string {
    const { name, description, examples } = command;
    const text = shortText(description, credential);
    const tables = groupBy(this.ownOptions(command), ({ group }) => group).map(([group, ones]) =>
      optionTable(name, group, ones),
    );
    const others = this.elsewhere(command);
    return [
      `\n${'#'.repeat(depth)} ${name}\n`,
      `\n${plain(text).replaceAll('\n', '\\\n')}\n`,
      usageOf(command),
      ...tables,
      others.length === 0
        ? ''
        : `\n${tables.length === 0 ? 'Options' : 'More options'}: ${others.join('; ')}.\n`,
      this.notes(command),
      exampleBlock(examples),
    ].join('');
  }

  /** Returns the row of a command in the table of its group, without the arguments that the group describes. */
  row(command: HelpCommand, group: string, credential: string, shared: readonly string[]): Row {
    const usage = command.usage.slice(group.length + 1).replace(' [options]', '');
    const text = shortText(command.description, credential);
    const described = command.arguments.filter((one) => one.description !== '');
    const fresh = described.filter((one) => !shared.includes(one.description));
    const texts = fresh.map((one) => ` ${code(one.name)}: ${plain(one.description)}.`);
    const own = this.ownOptions(command).map((one) => optionRow(one).join(': '));
    const cell = [...own, ...this.elsewhere(command)].join('; ');
    return [code(usage), `${plain(text).replaceAll('\n', ' ')}${texts.join('')}`, cell];
  }

  /** Returns the section of a group: a table of its commands, and a section for each that has more to say. */
  group(group: HelpCommand): string {
    const isIn = ({ name, commands }: HelpCommand) =>
      name.startsWith(`${group.name} `) && commands.length === 0;
    const leaves = this.commands.filter(isIn);
    const credentials = new Set(leaves.map(credentialOf).filter((text) => text !== ''));
    const credential = credentials.size === 1 ? ([...credentials][0] ?? '') : '';
    const without = leaves.filter((one) => credentialOf(one) === '');
    const names = without.map(({ name }) => code(name.slice(group.name.length + 1)));
    const except = names.length === 0 ? '' : `; ${names.join(', ')} need none`;
    const short = leaves.filter((one) => this.isRow(one));
    const long = leaves.filter((one) => !short.includes(one));
    const shared = sharedArguments(short);
    const rows = short.map((one) => this.row(one, group.name, credential, [...shared.keys()]));
    const width = rows.some((cells) => cells[2] !== '') ? 3 : 2;
    const below = long.map(({ name }) => linkTo(name, name.slice(group.name.length + 1)));
    return [
      `\n## ${group.name}\n`,
      sameText(group.description, group.summary) ? '' : `\n${plain(group.description)}\n`,
      below.length === 0 ? '' : `\nBelow: ${below.join(', ')}.\n`,
      credential === '' ? '' : `\nCredential: ${plain(credential)}${except}.\n`,
      ...[...shared].map(([text, args]) => `\n${args.map(code).join(', ')}: ${plain(text)}.\n`),
      table(
        ['Command', '', 'Options'].slice(0, width),
        rows.map((cells) => cells.slice(0, width)),
      ),
      this.notes(group),
      exampleBlock(short.flatMap(({ examples }) => examples)),
      ...long.map((one) => this.section(one, 3, credential)),
    ].join('');
  }

  /** Returns the tables of the options that several groups have. */
  shared(): string {
    const all = this.commands.flatMap(({ options }) => options);
    const isShared = (one: HelpOption) => this.homes.get(keyOf(one)) === '';
    const shared = [...new Map(all.filter(isShared).map((one) => [keyOf(one), one])).values()];
    const setOf = ({ flag }: HelpOption) =>
      Object.keys(sets).find((name) => sets[name]?.includes(flag)) ?? 'other options';
    const ordered = [...Object.keys(sets), 'other options'];
    return ordered
      .map((name) =>
        table(
          [name.replace(/^./, (first) => first.toUpperCase()), ''],
          shared.filter((one) => setOf(one) === name).map(optionRow),
        ),
      )
      .join('');
  }
}

/** Returns docs/reference/commands.md, generated from the program. */
export function commandsPage(program: Command): string {
  const { globalOptions, commands } = describeHelp(program);
  const [whole, ...below] = commands;
  const top = below.filter(({ name }) => whole?.commands.includes(name));
  const sections = new Sections(below);
  const index = groupBy(top, ({ group }) => group).map(([heading, ones]) =>
    table(
      [heading, ''],
      ones.map(({ name, summary }): Row => [linkTo(name), plain(summary)]),
    ),
  );
  const texts = top.map((one) =>
    one.commands.length === 0 ? sections.section(one, 2) : sections.group(one),
  );
  return `# Commands
${index.join('')}
\`rungate <command> --help\` shows a command's common options, \`--help --all\` all of them. Every command also takes the [global options](#options-of-every-command).
${texts.join('')}
## Shared options

Above, the page lists these options by name only. Commands with \`--yes\` cannot be undone.
${sections.shared()}
## Options of every command

Put them before or after the command's name. \`rungate --version\` shows the version. Write durations as \`250ms\`, \`10s\`, \`5m\`, \`1h\` or \`1d\`; a number without a unit is in seconds.
Put variables in quotes. To pass a value that is also the name of an option, write \`=\`: \`--ref=--wait\`.
${table(['Global options', ''], globalOptions.map(optionRow))}
## Tables

On a terminal, a list shows the columns that fit, at most six. The last line, on standard error, names the hidden ones. \`--columns id,name,baseUrl\` shows
exactly these fields, with objects as JSON. In a file or a pipe, the same columns are tab-separated, without a header. In scripts that must not depend on their
order, use \`--json\`.
`;
}
