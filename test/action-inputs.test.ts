import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { argvOf, optionInputs } from '../src/action/inputs.ts';
import { githubOutputs } from '../src/ci/reports/outputs.ts';
import { cli } from './cli/harness.ts';

const manifest = readFileSync(new URL('../action.yml', import.meta.url), 'utf8');

/** Returns the names below a key of action.yml: they are indented by two spaces. */
function names(section: string): string[] {
  const text = new RegExp(`^${section}:\\n([\\s\\S]*?)(?=^\\S|$(?![\\s\\S]))`, 'm').exec(manifest)?.[1] ?? '';
  return [...text.matchAll(/^ {2}["']?([a-z-]+)["']?:$/gm)].map((match) => String(match[1]));
}

describe('action.yml', () => {
  it('declares exactly the inputs that the action reads', () => {
    expect(names('inputs').sort()).toEqual(
      [...Object.keys(optionInputs), 'api-key', 'hub-url', 'hub-token', 'matrix', 'gates'].sort(),
    );
  });

  it('declares exactly the outputs that rungate writes', () => {
    const written = githubOutputs(
      { schemaVersion: 1, gate: 'fail', exitCode: 1, runs: [] },
      'EOF',
      'receipt.json',
    );
    const outputs = [...written.matchAll(/^(.+)<<EOF$/gm)].map(([, name]) => name);
    expect(names('outputs').sort()).toEqual(outputs.sort());
  });

  it('has an input for every option of run trigger and of run gates, except those left out on purpose', async () => {
    const [one, several] = [
      ['run', 'trigger'],
      ['run', 'gates'],
    ].map((words) => cli([...words, '--help']));
    const out = `${(await one)?.out}\n${(await several)?.out}`;
    const flags = [...out.matchAll(/^\s+(?:-\w, )?--(?:no-)?([a-z-]+)/gm)].map((match) => String(match[1]));
    const inputs = Object.keys(optionInputs).map((name) => (name === 'tags' ? 'tag' : name));
    expect(inputs.filter((name) => !flags.includes(name))).toEqual([]);
    // These are useless in an action: it always waits, prints for a log, and sends to one kind of endpoint.
    const useless = [
      'ci-report',
      'wait',
      'explain-key',
      'dry-run',
      'auth',
      'format',
      'json',
      'quiet',
      'verbose',
      'insecure-http',
      'help',
    ];
    const missing = [...new Set(flags)].filter((name) => !inputs.includes(name) && !useless.includes(name));
    expect(missing).toEqual([]);
  });
});

describe('the input gates', () => {
  const argv = (inputs: Record<string, string>) => argvOf((name) => inputs[name] ?? '');

  it.each<[Record<string, string>, string[]]>([
    [{ gates: 'all', strict: 'true' }, ['run', 'gates', '--strict']],
    [
      { gates: 'api, web\nperf', 'fail-fast': 'true' },
      ['run', 'gates', '--fail-fast', '--', 'api', 'web', 'perf'],
    ],
    [{ gates: '--json' }, ['run', 'gates', '--', '--json']],
    [{ gates: 'api', 'idempotency-key': 'auto', 'fail-fast': 'false' }, ['run', 'gates', '--', 'api']],
    [{ 'fail-fast': 'False' }, ['run', 'trigger', '--wait']],
  ])('of %j becomes %j', (inputs, expected) => expect(argv(inputs)).toEqual(expected));

  it.each<[Record<string, string>, string]>([
    [{ gates: 'all', process: 'x' }, 'the input process has no effect with gates'],
    [{ gates: 'all', tags: 'x' }, 'the input tags has no effect with gates'],
    [{ gates: 'all', 'idempotency-key': 'x' }, 'the input idempotency-key has no effect with gates'],
    [{ gates: 'all', receipt: 'x' }, 'the input receipt has no effect with gates'],
    [{ 'fail-fast': 'true' }, 'the input fail-fast has no effect without gates'],
    [{ gates: ',' }, 'the input gates names no gate'],
  ])('refuses %j: %s', (inputs, message) => expect(() => argv(inputs)).toThrow(message));
});

describe('the command line for the inputs', () => {
  const argv = (inputs: Record<string, string>) => argvOf((name) => inputs[name] ?? '').slice(3);

  it.each<[Record<string, string>, string[]]>([
    [{}, []],
    [{ project: 'shop', timeout: '5m' }, ['--project=shop', '--timeout=5m']],
    [{ tags: 'a, b\nc' }, ['--tag=a', '--tag=b', '--tag=c']],
    [{ on: 'failed=warn\nblocked=warn' }, ['--on=failed=warn', '--on=blocked=warn']],
    [{ strict: 'true' }, ['--strict']],
    [{ strict: 'False' }, ['--no-strict']],
    [{ 'cancel-on-timeout': 'false' }, []],
    [{ 'cancel-on-interrupt': 'false' }, ['--no-cancel-on-interrupt']],
    [{ ref: '--json' }, ['--ref=--json']],
    [{ config: 'none' }, ['--config=none']],
    [{ matrix: '{"node":20}' }, ['--idempotency-salt={"node":20}']],
    [{ matrix: '{"node":20}', 'idempotency-salt': 's' }, ['--idempotency-salt=s {"node":20}']],
    [{ matrix: 'null' }, []],
    [{ matrix: '{}' }, []],
    [{ matrix: '{"node":20}', 'idempotency-key': 'k' }, ['--idempotency-key=k']],
  ])('of %j is %j', (inputs, expected) => {
    expect(argv(inputs)).toEqual(expected);
  });
});
