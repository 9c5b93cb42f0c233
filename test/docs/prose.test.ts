import { createLinter, loadTextlintrc } from 'textlint';
import { expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { figuresOf, kindOf } from '../../scripts/docs-figures.mjs';
import { pages, textOf } from './pages.ts';

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: '.textlintrc.json' }) });
const findings = async (text: string, file: string) => (await linter.lintText(text, file)).messages.length;

const bad = [
  'Two exceptions, both are said loudly.',
  'A file of its own.',
  'A secret is no setting.',
  'The lost reply is repeated.',
  'Each try has 30 s.',
  'It stands in the project file.',
  'The create is sent again.',
  'A CI masks it.',
  'A file is loaded by who uses it.',
];

it.each(bad)('refuses on a page, in a comment and in a message: %s', async (sentence) => {
  expect(await findings(`Plain text.\n\n${sentence}\n`, 'docs/page.md')).toBeGreaterThan(0);
  expect(await findings(`/** ${sentence} */\nconst x = 1;\n`, 'src/x.ts')).toBeGreaterThan(0);
  expect(await findings(`const x = '${sentence.replaceAll("'", '’')}';\n`, 'src/x.ts')).toBeGreaterThan(0);
});

it.each([
  'An unknown result never passes the gate.',
  'There is no header.',
  'It reads the create request, and each creates a run.',
  'A CI job runs it, or a CI system’s own step.',
  'The proxy rejected the credentials, or requires some (HTTP 407).',
  'Set `--timeout` for longer runs; nothing is in the way.',
])('accepts on a page and in a comment: %s', async (sentence) => {
  expect(await findings(`Plain text.\n\n${sentence}\n`, 'docs/page.md')).toBe(0);
  expect(await findings(`/** ${sentence} */\nconst x = 1;\n`, 'src/x.ts')).toBe(0);
});

const figures = (page: string): { long: number; itemSemicolons: number } => figuresOf(textOf(page));

it('the pages of docs/start and docs/how-to have no sentence above 25 words, and no page a semicolon in a list', () => {
  const leading = pages.filter((page) => ['start', 'how-to'].includes(kindOf(page)));
  expect(leading.filter((page) => figures(page).long > 0)).toEqual([]);
  expect(pages.filter((page) => figures(page).itemSemicolons > 0)).toEqual([]);
});
