import { expect, it, vi } from 'vitest';
import type { OptionType } from '../../src/client/check-options.ts';
import type { OptionRow } from '../../src/options/rows.ts';
import { duration } from '../../src/options/types.ts';

const row: OptionRow = {
  type: duration,
  flag: '--patience <duration>',
  commands: ['gate', 'trigger', 'wait'],
  group: 'Wait options:',
  env: 'RUNGATE_PATIENCE',
  file: 'gate',
  input: true,
  library: 'patienceMs',
  default: '7s',
  help: 'time that a tester has patience',
};

vi.mock('../../src/options/rows.ts', async (original) => {
  const { rows } = await original<typeof import('../../src/options/rows.ts')>();
  return { rows: { ...rows, patience: row } };
});

const { cli } = await import('../cli/harness.ts');
const { argvOf } = await import('../../src/action/inputs.ts');
const { createSettingsSchema } = await import('../generated/settings-schema.ts');
const { readProjectFile } = await import('../../src/settings/project-file.ts');
const { libraryOptions } = await import('../generated/library-options.ts');
const { rowShape } = await import('../../src/client/check-options.ts');
const { bytesOf } = await import('../settings/samples.ts');

const listed = async (options: Parameters<typeof cli>[1], ...flags: string[]) => {
  const { out } = await cli(['config', 'list', '--json', ...flags], options);
  return JSON.parse(out).settings.patience as unknown;
};

/** One row is enough for a new option: nothing else names it. */
it('a new row is an option of the command line with its help', async () => {
  const { out } = await cli(['run', 'wait', '--help', '--all']);
  expect(out).toMatch(/Wait options:\n(?: +.*\n)*? +--patience <duration> +time that a tester has patience/);
  expect(out).toContain('RUNGATE_PATIENCE; default 7s');
  const { code, err } = await cli(['run', 'wait', 'run_1', '--patience', 'soon']);
  expect(code).toBe(64);
  expect(err).toContain('--patience: "soon" is not a duration');
});

it('a new row is a variable and a setting', async () => {
  expect(await listed({})).toEqual({ value: '7s', origin: 'default', detail: null });
  expect(await listed({ env: { RUNGATE_PATIENCE: '90s' } })).toEqual({
    value: '90s',
    origin: 'environment',
    detail: 'RUNGATE_PATIENCE',
  });
  const { err } = await cli(['config', 'list'], { env: { RUNGATE_PATIENCE: 'long' } });
  expect(err).toContain('RUNGATE_PATIENCE: "long" is not a duration');
});

it('a new row is a member of files, of their gates and of the schema', () => {
  const file = { patience: '5m', gates: { api: { process: 'smoke', patience: 3 } } };
  const { sources, gates } = readProjectFile('/repo/.rungate.json', bytesOf(file));
  expect([sources[0]?.values, gates.get('api')?.sources[0]?.values]).toMatchObject([
    { patience: 300_000 },
    { patience: 3000 },
  ]);
  expect(() => readProjectFile('/repo/.rungate.json', bytesOf({ patience: 'x' }))).toThrow(
    '/repo/.rungate.json:1:13: patience: expected a duration',
  );
  const { definitions } = createSettingsSchema() as { definitions: Record<string, { properties?: object }> };
  expect(definitions.patience).toMatchObject({ description: 'Time that a tester has patience. Default 7s.' });
  expect(definitions.gate?.properties).toHaveProperty('patience');
});

it('a new row is an input of the action', () => {
  const argv = argvOf((name) => (name === 'patience' ? '9s' : ''));
  expect(argv).toContain('--patience=9s');
});

it('a new row is an option of the library, with its check', () => {
  expect(libraryOptions()).toContain(
    '  /** Time that a tester has patience. Default 7s. */\n  patienceMs?: number | undefined;',
  );
  const { patienceMs } = rowShape('', ['patienceMs' as never]) as Record<string, OptionType<number>>;
  expect(patienceMs?.safeParse(7).success).toBe(true);
  expect(patienceMs?.safeParse('7s').success).toBe(false);
});

it('a new row is completed', async () => {
  const { out } = await cli(['completion', '--complete', 'zsh', '--', 'run', 'wait', '--pat']);
  expect(out).toContain('--patience');
  const names = await cli(['completion', '--complete', 'zsh', '--', 'config', 'get', 'pat']);
  expect(names.out).toContain('patience');
});
