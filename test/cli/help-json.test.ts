import { describe, expect, it } from 'vitest';
import type { describeHelp } from '../../src/commands/help-json.ts';
import { version } from '../../src/version.ts';
import { cli } from './harness.ts';

type Help = ReturnType<typeof describeHelp>;

async function help(...argv: string[]): Promise<Help> {
  const { code, out, err } = await cli(argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const names = ({ commands }: Help) => commands.map(({ name }) => name);

describe('rungate help --json', () => {
  it('lists every command once, in the order of the help', async () => {
    const all = await help('help', '--json');
    expect(all).toMatchObject({ schemaVersion: 1, version });
    expect(names(all).length).toBeGreaterThan(50);
    expect(new Set(names(all)).size).toBe(names(all).length);
    const { out } = await cli(['--help']);
    for (const name of all.commands[0]?.commands ?? []) expect(out).toContain(`  ${name.slice(8)} `);
    expect(names(all)).toContain('rungate env vars create');
  });

  it('describes the options of a command, and those of every command apart', async () => {
    const { globalOptions, commands } = await help('help', 'run', 'wait', '--json');
    const options = commands[0]?.options ?? [];
    const option = (flag: string) => [...options, ...globalOptions].find((one) => one.flag === flag);
    expect(option('--interval')).toEqual({
      flag: '--interval',
      placeholder: 'duration',
      description: expect.stringContaining('time between status reads'),
      default: '10s',
      repeatable: false,
      group: expect.any(String),
    });
    expect(option('--name')).toMatchObject({ placeholder: 'text', repeatable: true });
    expect(option('--quiet')).toMatchObject({ short: '-q', group: 'Global options' });
    expect(option('--quiet')).not.toHaveProperty('placeholder');
    expect(option('--api-url')).toMatchObject({ environment: 'RUNGATE_API_URL' });
    expect(option('--format')).toMatchObject({ choices: ['table', 'json', 'ndjson'] });
    expect(options.filter(({ flag }) => flag === '--format')).toEqual([]);
    expect(commands[0]?.arguments).toMatchObject([{ name: 'runId', required: true, repeatable: true }]);
    expect(commands[0]?.examples.join()).toContain('rungate run wait "$run"');
  });
});
