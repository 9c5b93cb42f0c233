import { afterEach, describe, expect, it } from 'vitest';
import { type Stage, stage, trigger } from '../cli/harness.ts';

let on: Stage;
afterEach(() => on?.close());

const gate = [...trigger, '--wait', '--json', '--max-attempts', '4'] as const;
const long = 'x'.repeat(2_000_000);
/** The limit on a refused response in the output of --json and --verbose. */
const errorBody = 64 * 1024;

describe('a hostile response', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

  it.each([
    ['run', 'status', 'run_1'],
    ['run', 'cancel', 'run_1'],
    ['env', 'list', '--all'],
    ['env', 'list'],
    ['observations', 'search', 'p'],
    ['orders', 'list'],
    ['keys', 'create', '--name', 'ci'],
    trigger,
  ])('nested 100,000 levels deep does not match the API: %s %s', async (...argv) => {
    on = await stage();
    for (const text of [
      deep,
      `{"a":${deep}}`,
      `{"id":"k","apiKey":"rg_0123456789","x":${deep}}`,
      `{"items":${deep},"total":1,"page":1,"pageSize":1}`,
    ]) {
      on.mock.faults.clear();
      on.mock.faults.add({ kind: 'reply', text, times: Number.POSITIVE_INFINITY });
      const { code, out, err } = await on.rungate(...argv, '--json');
      expect([code, out]).toEqual([5, '']);
      expect(err.length).toBeLessThan(errorBody + 1000);
    }
  });

  it('with too many values does not match the API', async () => {
    on = await stage();
    on.mock.faults.add({ kind: 'reply', text: `[${'{},'.repeat(600_000)}{}]`, endpoint: 'env.list' });
    const { code, err } = await on.rungate('env', 'list');
    expect(code).toBe(5);
    expect(err).toContain('at most 500000 values');
  });

  it.each([
    ['run.status', ['run', 'status', 'run_1']],
    ['run.trigger', trigger],
  ] as const)('of more than 1 MiB for %s does not match the API', async (endpoint, argv) => {
    on = await stage();
    const text = JSON.stringify({ state: 'in_progress', note: 'x'.repeat(1024 * 1024) });
    on.mock.faults.add({ kind: 'reply', text, endpoint, times: Number.POSITIVE_INFINITY });
    const { code, err } = await on.rungate(...argv);
    expect(code).toBe(5);
    expect(err).toContain('at most 1048576 bytes');
  });

  it.each(['huge', 'gzip-bomb'] as const)('of 100 MB does not match the API: %s', async (kind) => {
    on = await stage();
    on.mock.faults.add({ kind, endpoint: 'env.list' });
    const { code, err } = await on.rungate('env', 'list');
    expect(code).toBe(5);
    expect(err).toContain('too large');
    expect(on.mock.requests).toHaveLength(1);
  });
});

async function created(): Promise<string> {
  return (await on.rungate(...trigger)).out.trim();
}

describe('output is bounded for long texts in', () => {
  const bounded = async (...argv: readonly string[]) => {
    for (const format of [[], ['--json'], ['--verbose']]) {
      const { code, out, err } = await on.rungate(...argv, ...format);
      expect(code).not.toBe(70);
      expect(out.length + err.length, `${argv.join(' ')} ${format.join('')}`).toBeLessThan(
        20_000 + (argv.includes('--json') || format.length > 0 ? errorBody : 0),
      );
    }
  };
  const always = { times: Number.POSITIVE_INFINITY };

  it.each([
    ['an error', { error: long, details: long }],
    ['a page', `<html><title>${long}</title>${long}`],
  ])('%s', async (_name, body) => {
    on = await stage();
    on.mock.faults.add({ kind: 'status', status: 400, body, ...always });
    await bounded('env', 'list', '--all');
    await bounded(...gate);
    await bounded('run', 'wait', 'run_1');
  });

  it.each([{ state: long }, { appUrl: `https://a.example/${long}` }, { failed: long, state: 'completed' }])(
    'a status',
    async (merge) => {
      on = await stage();
      const runId = await created();
      on.mock.faults.add({ kind: 'patch', merge, endpoint: 'run.status', ...always });
      await bounded('run', 'wait', runId, '--max-attempts', '3');
    },
  );
});
