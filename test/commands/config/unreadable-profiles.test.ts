import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
let folder: string;
let env: Record<string, string | undefined>;
beforeEach(async () => {
  on = await stage({ outcome: 'passed' });
  folder = mkdtempSync(join(tmpdir(), 'rungate-unreadable-'));
  // A path below a file is unreadable even for root.
  writeFileSync(join(folder, 'file'), '');
  env = { RUNGATE_CONFIG_DIR: join(folder, 'file') };
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const warning = /warning: cannot read the profiles file: .*ENOTDIR.*\n\s+→ .*RUNGATE_CONFIG_DIR/;

describe('an unreadable profiles file', () => {
  it('is only a warning for a gate whose settings come from elsewhere', async () => {
    const { code, err } = await on.with({ env })(...trigger, '--wait');
    expect(code).toBe(0);
    expect(err).toMatch(warning);
    expect((await on.with({ env })(...trigger, '--wait', '--quiet')).err).toMatch(warning);
  });

  it('is an error if the user names a profile', async () => {
    for (const result of [
      await on.with({ env })('run', 'status', 'x', '--profile', 'work'),
      await on.with({ env: { ...env, RUNGATE_PROFILE: 'work' } })('run', 'status', 'x'),
    ]) {
      expect(result.code).toBe(78);
      expect(result.err).toMatch(/error: cannot read the profiles file[\s\S]*RUNGATE_CONFIG_DIR/);
    }
    expect(asked(on.mock)).toEqual([]);
  });

  it.each([[['login']], [['config', 'set', 'project', 'shop']]])(
    'is one error of %j, without a warning, before any prompt or request',
    async (argv) => {
      const { code, err } = await on.with({ env, stdin: on.mock.apiKey })(...argv);
      expect(code).toBe(78);
      expect(err).toMatch(/^error: cannot read the profiles file: .*\n {2}→ .*RUNGATE_CONFIG_DIR.*\n$/);
      expect(asked(on.mock)).toEqual([]);
    },
  );
});
