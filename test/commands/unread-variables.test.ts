import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const warning = (name: string, remedy: string) => `warning: rungate does not read ${name}\n  → ${remedy}\n`;

describe('every variable that rungate does not read is listed in one warning', () => {
  it.each([
    ['RUNGATE_URL', 'RUNGATE_API_URL'],
    ['rungate_api_key', 'RUNGATE_API_KEY'],
  ])('by every command: %s', async (name, read) => {
    const env = { [name]: 'a-value', RUNGATE_CONFIG_DIR: '/nowhere' };
    for (const argv of [
      ['run', 'status', 'run_1'],
      ['config', 'list'],
      ['env', 'list', '--json'],
    ]) {
      const { err, out } = await on.with({ env })(...argv);
      expect(err.startsWith(warning(name, `did you mean ${read}?`)), err).toBe(true);
      expect(err.split('does not read')).toHaveLength(2);
      expect(err + out).not.toContain('a-value');
    }
  });

  it('by a gate, also with --quiet', async () => {
    const env = { RUNGATE_URL: 'https://a.example' };
    const argv = ['gate', '--project', 'shop', '--process', 'checkout', '--quiet'];
    expect((await on.with({ env })(...argv)).err).toContain(
      warning('RUNGATE_URL', 'did you mean RUNGATE_API_URL?'),
    );
  });

  it('but not in completion, which shows only values', async () => {
    const { err } = await on.with({ env: { RUNGATE_URL: 'x' } })(
      ...['completion', '--complete', 'bash', '--', ' ', 'rungate env get '],
    );
    expect(err).toBe('');
  });
});

it('does not warn of variables of other programs, nor of those that reports set', async () => {
  const names = [
    ...['OPENAI_API_KEY', 'RUNNER_TOKEN', 'RUNTIME_CONFIG', 'RUNGATE', 'GATE_API_URL', 'NPM_TOKEN', 'RUN_ID'],
    ...['RUNGATE_RESULT', 'RUNGATE_EXIT_CODE', 'RUNGATE_VERDICT', 'RUNGATE_RUN_ID', 'RUNGATE_FAILED'],
  ];
  const env = Object.fromEntries(names.map((name) => [name, 'x']));
  expect((await on.with({ env })('env', 'list')).err).not.toContain('does not read');
});
