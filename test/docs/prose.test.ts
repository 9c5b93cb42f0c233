import { createLinter, loadTextlintrc } from 'textlint';
import { expect, it } from 'vitest';

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: '.textlintrc.json' }) });
const findings = async (text: string, file: string) => (await linter.lintText(text, file)).messages.length;

const bad = [
  'What it does not know is kept apart.',
  'Two exceptions, both are said loudly.',
  'A file of its own.',
  'A bug of ours.',
  'It has all that a step needs.',
  'A secret is no setting.',
  'A profile that is named is read first.',
  'The folder is not there.',
  'A login is asked for.',
  'The lost reply is repeated.',
  'Each try has 30 s.',
  'The request is tried again.',
  'It stands in the project file.',
  'The proxy wants a password.',
  'The create is sent again.',
  'It repeats a create.',
  'A CI masks it.',
  'It runs in a CI.',
  'Other CIs work, too.',
  'A file is loaded by who uses it.',
];

it.each(bad)('refuses on a page, in a comment and in a message: %s', async (sentence) => {
  expect(await findings(`Plain text.\n\n${sentence}\n`, 'docs/page.md')).toBeGreaterThan(0);
  expect(await findings(`/** ${sentence} */\nconst x = 1;\n`, 'src/x.ts')).toBeGreaterThan(0);
  expect(await findings(`const x = '${sentence.replaceAll("'", '’')}';\n`, 'src/x.ts')).toBeGreaterThan(0);
});

it.each([
  'An unknown result never passes the gate.',
  'What does it send, and who receives it?',
  'The certificate of HOST is not trusted.',
  'There is no header.',
  'It reads the create request, and each creates a run.',
  'A CI job runs it, or a CI system’s own step.',
  'The proxy rejected the credentials, or requires some (HTTP 407).',
  'It is no longer supported.',
  'Every additional file costs about 1 ms.',
  'Set `--timeout` for longer runs; nothing is in the way.',
])('accepts on a page and in a comment: %s', async (sentence) => {
  expect(await findings(`Plain text.\n\n${sentence}\n`, 'docs/page.md')).toBe(0);
  expect(await findings(`/** ${sentence} */\nconst x = 1;\n`, 'src/x.ts')).toBe(0);
});
