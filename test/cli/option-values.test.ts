import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyCommand } from '../../src/cli/program.ts';
import { cli, type Stage, stage, trigger } from './harness.ts';

let on: Stage;
beforeAll(async () => {
  on = await stage({ outcome: 'cancelled' });
});
afterAll(() => on.close());

/** Returns the commands that can be run, each with the arguments that call it. */
function leaves(command: Command, words: readonly string[] = []): [string[], Command][] {
  if (command.commands.length === 0) return [[[...words], command]];
  return command.commands.flatMap((one) => leaves(one, [...words, one.name()]));
}

describe('an option in the place of the value of another option is a usage error', () => {
  it.each<[string[], string, string]>([
    [[...trigger, '--ref', '--wait'], '--ref', '--wait'],
    [['run', 'trigger', '-p', '-e', 'staging', '--tag', 'a'], '--project', '-e'],
    [['run', 'wait', 'run_1', '--name', '--timeout=5m'], '--name', '--timeout'],
    [['run', 'cancel', 'run_1', '--reason', '-qv'], '--reason', '-qv'],
    [['mock', 'exec', '--outcome', '--', 'true'], '--outcome', '--'],
  ])('%j', async (argv, option, next) => {
    const before = on.mock.requests.length;
    const files = {};
    const { code, out, err } = await on.with({ files })(...argv);
    expect({ code, out, files }).toEqual({ code: 64, out: '', files: {} });
    expect(err).toContain(`${option} has no value`);
    expect(err).toContain(`the option ${next}`);
    expect(err).toContain(`${option}=${next}`);
    expect(on.mock.requests.length).toBe(before);
  });

  it('for every command and every option that takes a value', async () => {
    for (const [words, command] of leaves(await everyCommand())) {
      for (const option of command.options.filter(({ required }) => required)) {
        const given = option.long ?? '';
        const { code, err } = await cli([...words, given, '--quiet']);
        expect({ code, err }, [...words, given].join(' ')).toEqual({
          code: 64,
          err: expect.stringContaining(`${given} has no value`),
        });
      }
    }
  });

  it('that does not repeat the value of that option', async () => {
    const { err } = await on.rungate('run', 'cancel', 'run_1', '--reason', '--profile=hidden');
    expect(err).not.toContain('hidden');
  });
});

describe('a value that looks like an option is accepted', () => {
  const sentRef = () => JSON.parse(on.mock.requests.at(-1)?.body ?? '{}').ref;

  it('after =', async () => {
    const { code, err } = await on.rungate(...trigger, '--ref=--wait');
    expect(code, err).toBe(0);
    expect(sentRef()).toBe('--wait');
  });

  it.each(['-', '-5', '--unknown'])('if it is not an option of the command: %s', async (ref) => {
    const { code, err } = await on.rungate(...trigger, '--ref', ref);
    expect(code, err).toBe(0);
    expect(sentRef()).toBe(ref);
  });

  it('after --, and in the command that mock exec starts', async () => {
    const literal = await on.rungate('run', 'status', '--', '--ref', '--wait');
    expect(literal.err).not.toContain('has no value');
    const child = await on.rungate('mock', 'exec', 'tool', '--outcome', '--json');
    expect(child.err).not.toContain('has no value');
  });
});

it.each([[['-p', 'shop', '-e', 'staging']], [['-pshop', '-estaging']]])(
  '%j names the project and the environment',
  async (options) => {
    const { code, err } = await on.rungate('run', 'trigger', '--process', 'checkout', ...options);
    expect(code, err).toBe(0);
    expect(JSON.parse(on.mock.requests.at(-1)?.body ?? '{}')).toMatchObject({
      projectSlug: 'shop',
      environmentKey: 'staging',
    });
  },
);
