import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { alignedTable } from '../docs/aligned-table.ts';
import { openShell, type Shell, type ShellOptions } from './shell.ts';

const first = ['rungate', 'gate', '--project', 'shop', '--process', 'checkout', '--json', '--slice', '30s'];
const hour = 3_600_000;

interface Row {
  what: string;
  kills?: ShellOptions['kills'];
  /** Changes the world between the first command and the second. */
  between?(shell: Shell): void | Promise<void>;
  /** Options of the second command, if it is the first one again. */
  options?: readonly string[];
}

const rows: readonly Row[] = [
  { what: 'nothing' },
  { what: 'the first command is killed', kills: { 1: { afterMs: 15_000 } } },
  { what: 'the first command is killed when the service has created the run', kills: { 1: { at: 'POST' } } },
  { what: 'the last command is killed before it prints its result', kills: { 3: { at: 'print' } } },
  { what: 'the second command comes after the timeout', between: ({ pause }) => pause(hour) },
  {
    what: 'the disk becomes read-only',
    between({ disk }) {
      disk.readOnly = true;
    },
  },
  { what: 'the file with the state is deleted', between: ({ on }) => on.loseState() },
  { what: 'the command has other rules', options: ['--on', 'failed=warn'] },
  { what: 'the command has another body', options: ['--ref', 'other'] },
  {
    what: 'another API key is set',
    between({ env }) {
      env.RUNGATE_API_KEY = 'rgk_another';
    },
  },
  {
    what: 'another folder',
    between(shell) {
      shell.on.files['/repo/sub/.git'] = '';
      shell.cwd = '/repo/sub';
    },
  },
];

/** Plays the loop of an agent: the first command, what happens, and commands until one ends with another code than 75. */
async function play(row: Row, outcome: 'passed' | 'failed', resumes: boolean): Promise<string> {
  const shell = openShell({ end: outcome, seconds: 70 }, { kills: row.kills ?? {} });
  const begun = await shell.call(first);
  // A command that was killed has printed no id, and `--resume` takes no other options.
  if (resumes && (begun.out === '' || row.options !== undefined)) return '';
  const next = resumes ? JSON.parse(begun.out).next : [...first, ...(row.options ?? [])];
  await row.between?.(shell);
  const codes = [begun.code];
  while (codes.length < 9 && (codes.length === 1 || [75, null].includes(codes.at(-1) ?? null)))
    codes.push((await shell.call(next)).code);
  const count = shell.service.runs.length;
  return `${codes.map((code) => code ?? 'killed').join(', ')}; ${count} ${count === 1 ? 'run' : 'runs'}`;
}

// `npm run docs:reliability` writes the file with --update.
it('slices end as the table in docs/project/reliability.md shows', async () => {
  const cells = [['what happens', 'the first command again', '`--resume`']];
  for (const row of rows) {
    const ends: string[] = [];
    for (const resumes of [false, true]) {
      const [failed, passed] = [await play(row, 'failed', resumes), await play(row, 'passed', resumes)];
      ends.push(failed === '' ? '–' : `${failed}<br>${passed}`);
    }
    cells.push([row.what, ...ends]);
  }
  const page = await readFile(new URL('../../docs/project/reliability.md', import.meta.url), 'utf8');
  const part = /(?<=<!-- slices -->\n\n).*(?=\n<!-- end of slices -->)/s;
  expect(page).toMatch(part);
  await expect(page.replace(part, () => `${alignedTable(cells)}\n`)).toMatchFileSnapshot(
    '../../docs/project/reliability.md',
  );
});
