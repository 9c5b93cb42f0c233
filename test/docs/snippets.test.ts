import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { cli } from '../cli/harness.ts';
import { pages, textOf } from './pages.ts';

/** Returns the commands of a text that wait for a run, with continuation lines joined. */
function waitingCommands(text: string): string[] {
  const joined = text.replace(/\s*\\\n\s*/g, ' ').replace(/\n\s+(?=--[a-z])/g, ' ');
  return joined
    .split('\n')
    .filter((line) => /\brun trigger\b.*--wait\b|\brun wait\b(?! \[)/.test(line))
    .map((line) => line.trim());
}

const fences = (page: string) =>
  new MarkdownIt()
    .parse(textOf(page), {})
    .filter(({ type, info }) => type === 'fence' && info !== 'text')
    .map(({ content }) => content)
    .join('\n');

describe('every snippet with run trigger --wait or run wait has a --timeout', () => {
  it.each(pages.map((page) => [page]))('%s', (page) => {
    // A console block also shows the output of its commands.
    const other = /--timeout[ =]|^(#|run_|created run|✓|✗|→)/;
    expect(waitingCommands(fences(page)).filter((line) => !other.test(line))).toEqual([]);
  });
});

it.each([['trigger'], ['wait']])('the help of run %s says how long 60 status reads take', async (command) => {
  const help = (await cli(['run', command, '--help', '--all'])).out.replace(/\s+/g, ' ');
  expect(help).toMatch(/default 60; about 10 minutes at 10s/);
});

/** A shell line of a pipeline: it replaces the job's shell, or confirms npx's question in advance. */
const pipelineLine = /(?:exec npx|npx --yes) .*/g;

it.each([...pages, 'templates/gitlab/rungate.yml'])(
  '%s has no pipeline that runs the newest rungate',
  (path) => {
    const lines = [...textOf(path).matchAll(pipelineLine)].map(([line]) => line);
    // docs/how-to/ci.md warns against this form.
    const loose = lines.filter(
      (line) => !/^(?:exec )?npx (?:--yes ("\$RUNGATE_PACKAGE"|[@\w/]+@[\d<])|--no-install )/.test(line),
    );
    expect(loose).toEqual(
      path === 'docs/how-to/ci.md' ? [expect.stringContaining('npx --yes rungate` runs the newest')] : [],
    );
  },
);
