import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { alignedTable } from '../docs/aligned-table.ts';
import { openShell, type Shell, type ShellOptions } from './shell.ts';

const first = ['rungate', 'gate', '--project', 'shop', '--process', 'checkout', '--json', '--slice', '30s'];
const hour = 3_600_000;

interface Row {
  what: string;
  stops?: ShellOptions['stops'];
  /** Changes the world between the first command and the second. */
  between?(shell: Shell): void | Promise<void>;
  /** Options of the second command, if it is the first one again. */
  options?: readonly string[];
}

const rows: readonly Row[] = [
  { what: 'nothing' },
  { what: 'the first command is killed', stops: [{ call: 1, at: 15_000, by: 'SIGKILL' }] },
  {
    what: 'the first command is killed when the service has created the run',
    stops: [{ call: 1, at: 'created', by: 'SIGKILL' }],
  },
  {
    what: 'the last command is killed before it prints its result',
    stops: [{ call: 3, at: 'before the result', by: 'SIGKILL' }],
  },
  { what: 'the second command comes after the timeout', between: ({ time }) => time.run(hour) },
  {
    what: 'the disk becomes read-only',
    between({ disk }) {
      disk.readOnly = true;
    },
  },
  { what: 'the file with the state is deleted', between: ({ disk }) => disk.files.clear() },
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
      shell.files['/repo/sub/.git'] = '';
      shell.cwd = '/repo/sub';
    },
  },
];

/** Plays the loop of an agent: the first command, what happens, and commands until one ends with another code than 75. */
async function play(row: Row, outcome: 'passed' | 'failed', resumes: boolean): Promise<string> {
  const shell = await openShell({ mock: { outcome, duration: 70_000 }, stops: row.stops ?? [] });
  try {
    const begun = await shell.call(first);
    // A command that was killed has printed no id, and `--resume` takes no other options.
    if (resumes && (begun.out === '' || row.options !== undefined)) return '';
    const next = resumes ? JSON.parse(begun.out).next : [...first, ...(row.options ?? [])];
    await row.between?.(shell);
    const codes = [begun.code];
    while (codes.length < 9 && (codes.length === 1 || [75, null].includes(codes.at(-1) ?? null)))
      codes.push((await shell.call(next)).code);
    const { size } = shell.mock.state.runs;
    return `${codes.map((code) => code ?? 'killed').join(', ')}; ${size} ${size === 1 ? 'run' : 'runs'}`;
  } finally {
    await shell.close();
  }
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
