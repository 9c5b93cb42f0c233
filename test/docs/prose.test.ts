import { createLinter, loadTextlintrc } from 'textlint';
import { expect, it } from 'vitest';

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: '.textlintrc.json' }) });
const findings = async (text: string, file: string) => (await linter.lintText(text, file)).messages.length;

const bad = [
  'What it does not know is kept apart.',
  'Never red for a passing fault.',
  'Two exceptions, both are said loudly.',
  'A file of its own.',
  'A bug of ours.',
  'Each command has a key, by chance.',
  'All else is on stderr.',
  'It has all that a step needs.',
  '"Retry" is found out all the same.',
  'A secret is no setting.',
  'A profile that is named is read first.',
  'The folder is not there.',
  'Nobody listens at this port.',
  'Somebody else has it.',
  'The step is told what to do.',
  'A login is asked for.',
  'The lost reply is repeated.',
  'Each try has 30 s.',
  'The request is tried again.',
  'It stands in the project file.',
  'The proxy wants a password.',
  'A file is loaded by who uses it.',
  'The file is written anew.',
  'Edit it to mend it.',
  'The way of one `run wait`',
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
  'The proxy rejected the credentials, or requires some (HTTP 407).',
  'It is no longer supported.',
  'Every additional file costs about 1 ms.',
  'Set `--timeout` for longer runs; nothing is in the way.',
])('accepts on a page and in a comment: %s', async (sentence) => {
  expect(await findings(`Plain text.\n\n${sentence}\n`, 'docs/page.md')).toBe(0);
  expect(await findings(`/** ${sentence} */\nconst x = 1;\n`, 'src/x.ts')).toBe(0);
});
