import MarkdownIt from 'markdown-it';

/** One command of an example: a line and its continuation lines. */
export interface ShellCommand {
  /** The number of its first line on the page, from 1. */
  line: number;
  text: string;
  /** The expected exit code: from a comment `# exits 1` after the command, or 0. */
  exits: number;
  /** Whether the comment `# until Ctrl-C` follows: the command runs until it is stopped. */
  untilStopped: boolean;
  /** The expected output; null if the page does not show it. */
  output: string | null;
}

export interface ShellExample {
  page: string;
  line: number;
  commands: ShellCommand[];
  /** The reason for not running it, from `<!-- not run: reason -->` above it. */
  notRun: string | null;
  /** Extra files that it needs, from `<!-- with: .rungate.json -->` above it. */
  needs: string[];
}

const markdown = new MarkdownIt({ html: true });
const shells = ['sh', 'bash', 'console'];

/** Whether a line continues the command above: it is indented, ends a block, or follows a backslash or an operator. */
const continues = (above: string, line: string) =>
  /(\\|\||&&|\bdo|\bthen)$/.test(above) || /^(\s+\S|done\b|fi\b|else\b|esac\b|\})/.test(line);

/** Whether the here-document of a command still lacks its end marker. */
function hasOpenHereDocument(text: string): boolean {
  const marker = /<<-?\s*['"]?(\w+)['"]?/.exec(text)?.[1];
  return marker !== undefined && !text.split('\n').slice(1).includes(marker);
}

function commandOf(line: number, text: string, output: string | null): ShellCommand {
  const note = /\s#\s(?<note>.*)$/.exec(text)?.groups?.note ?? '';
  const exits = /^exits (\d+)\b/.exec(note)?.[1];
  return { line, text, exits: Number(exits ?? 0), untilStopped: /^until Ctrl-C\b/.test(note), output };
}

/** Reads a block that has only commands. */
function scriptCommands(content: string, first: number): ShellCommand[] {
  const commands: { line: number; text: string }[] = [];
  for (const [index, line] of content.trimEnd().split('\n').entries()) {
    const last = commands.at(-1);
    if (last !== undefined && (hasOpenHereDocument(last.text) || continues(last.text, line)))
      last.text += `\n${line}`;
    else if (line.trim() !== '' && !line.startsWith('#')) commands.push({ line: first + index, text: line });
  }
  return commands.map(({ line, text }) => commandOf(line, text, null));
}

/** Reads a block with commands after `$ ` and the output below each. */
function consoleCommands(content: string, first: number): ShellCommand[] {
  const commands: { line: number; text: string; output: string[] }[] = [];
  for (const [index, line] of content.trimEnd().split('\n').entries()) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ line: first + index, text: line.slice(2), output: [] });
    else if (last === undefined) throw new Error(`line ${first + index}: a console block begins with "$ "`);
    else if (last.output.length === 0 && continues(last.text, line)) last.text += `\n${line}`;
    else last.output.push(line);
  }
  return commands.map(({ line, text, output }) => commandOf(line, text, output.join('\n')));
}

/** The skill is copied into other repositories, so it has no comments. It expects a project file. */
const commentsOf: Readonly<Record<string, string>> = {
  'skills/rungate/SKILL.md': '<!-- with: .rungate.json -->',
};

/** Returns every shell block of a page. @throws for a block without a language, which might be one. */
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
    const comment = commentsOf[page] ?? (above?.type === 'html_block' ? above.content : '');
    const commands = language === 'console' ? consoleCommands : scriptCommands;
    return [
      {
        page,
        line,
        commands: commands(token.content, line + 1),
        notRun: /<!-- not run: (.+?) -->/.exec(comment)?.[1] ?? null,
        needs: [...comment.matchAll(/<!-- with: (.+?) -->/g)].map((match) => match[1] ?? ''),
      },
    ];
  });
}
