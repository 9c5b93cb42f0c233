import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseJournal, runsOf } from '../../src/ci/journal.ts';
import type { TriggerBody } from '../../src/contract/run.ts';
import { folderForTest } from '../folders.ts';
import { openJournal } from '../without-redaction.ts';

let folder: string;
let path: string;
let warnings: string[];
beforeEach(() => {
  folder = folderForTest();
  path = join(folder, 'job.journal');
  warnings = [];
});

const isRoot = process.getuid?.() === 0;
const evil = '{"event":"triggering","key":"evil","base":"base","job":"job 1"}\n';
/** Writes a journal with a run that this job has not started. */
function planted(file: string, mode = 0o600): string {
  writeFileSync(file, evil);
  chmodSync(file, mode);
  return file;
}

/** Only root can change the owner of a file. */
const foreign: [string, () => void][] = isRoot
  ? [['a file of another user', () => chownSync(planted(path), 12_345, 12_345)]]
  : [];

const place = { base: 'base', job: 'job 1' };
const open = (change = {}) => openJournal({ path, ...place, ...change }, (problem) => warnings.push(problem));
const body = { projectSlug: 'p' } as unknown as TriggerBody;

describe('the journal of a job', () => {
  it('is readable only by its owner', () => {
    open().triggering('k1', [], body);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is readable and writable after a cut at any byte', () => {
    const nested = { projectSlug: 'ü}{"', tags: ['a}', '{"event":"'], more: [{ deep: {} }] };
    const journal = open();
    journal.triggering('k1', [], nested as unknown as TriggerBody);
    journal.created('k1', 'r1');
    journal.settled('r1');
    const whole = readFileSync(path);
    const known = new Set<string>();
    for (let cut = 0; cut <= whole.length; cut += 1) {
      writeFileSync(path, whole.subarray(0, cut));
      const before = open();
      known.add(JSON.stringify(before.runs.map(({ runId, settled }) => [runId, settled])));
      before.triggering('k2', [], body);
      expect(open().runs.at(-1)).toMatchObject({ key: 'k2', runId: null });
    }
    expect([...known]).toEqual(['[]', '[[null,false]]', '[["r1",false]]', '[["r1",true]]']);
    expect(warnings).toEqual([]);
  });

  it('has only the runs with the same base, each with the job that was the first to use its key', () => {
    open().triggering('k1', [], body);
    open({ base: 'other' }).triggering('k2', [], body);
    open({ job: 'job 2' }).triggering('k1', [], body);
    open({ job: 'job 2' }).triggering('k3', [], body);
    expect(open().runs).toMatchObject([
      { key: 'k1', job: 'job 1' },
      { key: 'k3', job: 'job 2' },
    ]);
    expect(open({ base: 'other' }).runs).toMatchObject([{ key: 'k2' }]);
  });

  it('is left as it is with a warning if it is damaged', () => {
    writeFileSync(path, 'not a journal\n', { mode: 0o600 });
    const journal = open();
    journal.triggering('k1', [], body);
    expect(journal.runs).toEqual([]);
    expect(warnings.join()).toMatch(/cannot be used: it is not a journal; rungate continues without it/);
    expect(readFileSync(path, 'utf8')).toBe('not a journal\n');
  });

  describe.each<[string, (target: string) => void]>([
    ['a link', (target) => symlinkSync(target, path)],
    ['a dangling link', () => symlinkSync(join(folder, 'nothing'), path)],
    ['a hard link', (target) => linkSync(target, path)],
    ['a file that other users can write to', () => planted(path, 0o622)],
    ['a file that its group can write to', () => planted(path, 0o620)],
    ['a pipe', () => void execFileSync('mkfifo', [path])],
    ['a folder', () => mkdirSync(path)],
    ...foreign,
  ])('planted as %s', (_name, plant) => {
    it('is not read', () => {
      plant(planted(join(folder, 'target')));
      expect(open().runs).toEqual([]);
      expect(warnings.join()).toMatch(/cannot be used/);
    });

    it('is not written to, even if it is planted between two lines', () => {
      const target = planted(join(folder, 'target'));
      const journal = open();
      journal.triggering('k1', [], body);
      rmSync(path);
      plant(target);
      journal.created('k1', 'r1');
      journal.settled('r1');
      expect(readFileSync(target, 'utf8')).toBe(evil);
      expect(existsSync(join(folder, 'nothing'))).toBe(false);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/cannot be written/);
    });
  });

  it.skipIf(isRoot)('warns once and goes on if it cannot be written', () => {
    chmodSync(folder, 0o500);
    const journal = open();
    journal.triggering('k1', [], body);
    journal.settled('r1');
    expect(warnings).toHaveLength(1);
    chmodSync(folder, 0o700);
  });
});

it('parseJournal accepts or rejects any text without throwing', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(fc.json()).map((lines) => `${lines.join('\n')}\n`),
      ),
      (text) => {
        const events = parseJournal(text);
        if (events !== null) expect(Array.isArray(runsOf(events))).toBe(true);
      },
    ),
  );
});
