import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { describe, expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { describeHelp } from '../../src/commands/help-json.ts';
import { verdicts } from '../../src/gate/policy.ts';
import { root } from '../e2e/built.ts';
import { pages, textOf } from './pages.ts';

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: '.textlintrc.json' }) });

/** Returns the wrong words of a text, with the right ones. */
async function wrongWords(text: string, file: string): Promise<string[]> {
  const { messages } = await linter.lintText(text, file);
  return messages.map(({ line, message }) => `${file}:${line}: ${message.split('\n')[0]}`);
}

/** The rows of the tables on the page: the words, their meaning, and what not to write. */
const rows = textOf('docs/reference/words.md')
  .split('\n')
  .filter((line) => /^\| [^-]/.test(line) && !line.startsWith('| word '))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

const notWords = rows.flatMap(([, , , not = '']) =>
  [...not.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
);

/** Returns every text in a JSON document. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const jsonTexts = (path: string) => textsIn(JSON.parse(textOf(path))).join('\n');
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file}`)
    .toSorted();

describe('docs/reference/words.md', () => {
  it.each(notWords)('is enforced: the lint refuses "%s"', async (word) => {
    expect(await wrongWords(`Then ${word} is in a sentence.\n`, 'docs/page.md')).not.toEqual([]);
  });

  it('names every verdict', () => {
    const row = rows.find(([, word]) => word === 'verdict')?.[2] ?? '';
    expect([...row.matchAll(/`(\w+)`/g)].map(([, name]) => name).toSorted()).toEqual(verdicts.toSorted());
  });
});

describe('one word means one thing', () => {
  it('in the help of every command', async () => {
    const help = textsIn(describeHelp(await everyCommand()));
    expect(help).not.toEqual([]);
    expect(await wrongWords(help.join('\n'), 'help.txt')).toEqual([]);
  });

  it.each(['docs/openapi.json', ...filesIn('docs', 'schema.json'), ...filesIn('docs/schemas', '.json')])(
    'in %s',
    async (path) => expect(await wrongWords(jsonTexts(path), `${path}.txt`)).toEqual([]),
  );

  it.each([...pages, 'action.yml', 'fixtures/mistakes.txt'])('in %s', async (path) =>
    expect(await wrongWords(textOf(path), path)).toEqual([]),
  );

  it('in the messages and doc comments of the code', async () => {
    const found: string[] = [];
    for (const path of filesIn('src', '.ts'))
      found.push(...(await wrongWords(readFileSync(join(root, path), 'utf8'), path)));
    expect(found).toEqual([]);
  });
});
