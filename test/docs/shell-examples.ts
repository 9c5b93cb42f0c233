import MarkdownIt from 'markdown-it';

/** One command of an example, as bash reads it: a line, and those that belong to it. */
export interface ShellCommand {
  /** The line of the page that it begins in, from 1. */
  line: number;
  text: string;
  /** The exit code that the page promises: `# exits 1` behind it, else 0. */
  exits: number;
  /** `# until Ctrl-C` behind it: it goes on until it is stopped. */
  untilStopped: boolean;
  /** What the page says it prints; null where it does not say. */
  output: string | null;
}

export interface ShellExample {
  page: string;
  line: number;
  commands: ShellCommand[];
  /** Why it cannot be run as it stands: `<!-- not run: reason -->` above it. */
  notRun: string | null;
  /** What it stands on: `<!-- with: .rungate.json -->` above it. */
  stands: string[];
}

const markdown = new MarkdownIt({ html: true });
const shells = ['sh', 'bash', 'console'];

/** Lines that go on with the command above: indented ones, ends of blocks, and what follows a backslash or a pipe. */
const goesOn = (above: string, line: string) =>
  /(\\|\||&&|\bdo|\bthen)$/.test(above) || /^(\s+\S|done\b|fi\b|else\b|esac\b|\})/.test(line);

/** The text of a here-document goes on until its word. */
function openHereDocument(text: string): boolean {
  const word = /<<-?\s*['"]?(\w+)['"]?/.exec(text)?.[1];
  return word !== undefined && !text.split('\n').slice(1).includes(word);
}

function commandOf(line: number, text: string, output: string | null): ShellCommand {
  const note = /\s#\s(?<note>.*)$/.exec(text)?.groups?.note ?? '';
  const exits = /^exits (\d+)\b/.exec(note)?.[1];
  return { line, text, exits: Number(exits ?? 0), untilStopped: /^until Ctrl-C\b/.test(note), output };
}

/** Commands alone, one after another. */
function scriptCommands(content: string, first: number): ShellCommand[] {
  const commands: { line: number; text: string }[] = [];
  for (const [index, line] of content.trimEnd().split('\n').entries()) {
    const last = commands.at(-1);
    if (last !== undefined && (openHereDocument(last.text) || goesOn(last.text, line)))
      last.text += `\n${line}`;
    else if (line.trim() !== '' && !line.startsWith('#')) commands.push({ line: first + index, text: line });
  }
  return commands.map(({ line, text }) => commandOf(line, text, null));
}

/** Commands after `$ `, and below each what it prints. */
function consoleCommands(content: string, first: number): ShellCommand[] {
  const commands: { line: number; text: string; output: string[] }[] = [];
  for (const [index, line] of content.trimEnd().split('\n').entries()) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ line: first + index, text: line.slice(2), output: [] });
    else if (last === undefined) throw new Error(`line ${first + index}: a console block begins with "$ "`);
    else if (last.output.length === 0 && goesOn(last.text, line)) last.text += `\n${line}`;
    else last.output.push(line);
  }
  return commands.map(({ line, text, output }) => commandOf(line, text, output.join('\n')));
}

/** Every block of shell on a page. @throws for a block that says no language, which could hide one. */
export function shellExamples(page: string, text: string): ShellExample[] {
  const tokens = markdown.parse(text, {});
  return tokens.flatMap((token, index) => {
    const line = (token.map?.[0] ?? 0) + 1;
    if (token.type === 'code_block')
      throw new Error(`${page}:${line}: an indented block; fence it and name its language`);
    if (token.type !== 'fence') return [];
    const language = token.info.trim();
    if (language === '') throw new Error(`${page}:${line}: a fence without a language`);
    if (!shells.includes(language)) return [];
    const above = tokens[index - 1];
    const said = above?.type === 'html_block' ? above.content : '';
    const commands = language === 'console' ? consoleCommands : scriptCommands;
    return [
      {
        page,
        line,
        commands: commands(token.content, line + 1),
        notRun: /<!-- not run: (.+?) -->/.exec(said)?.[1] ?? null,
        stands: [...said.matchAll(/<!-- with: (.+?) -->/g)].map((match) => match[1] ?? ''),
      },
    ];
  });
}
