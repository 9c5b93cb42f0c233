import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { version } from '../../src/version.ts';
import { cli, memoryIo, type Stage, stage, trigger } from './harness.ts';
import { main } from './main.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const wait = ['run', 'wait', 'run_1'] as const;

it('names a working directory that was deleted, whatever the command', async () => {
  for (const argv of [['gate', '--junit', 'junit.xml'], wait, ['--help']]) {
    const { code, err } = await cli(argv, { cwd: '', env: { RUNGATE_CONFIG_DIR: 'relative' } });
    expect(code).toBe(78);
    expect(err).toMatch(/^error: the working directory of this process was deleted\n {2}→ .*\n$/);
  }
});

describe('a usage error exits with 64, sends nothing and suggests a correction', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['an empty process', ['run', 'trigger', '--project', 'shop', '--process', ' '], /--process is empty/],
    ['a timeout of centuries', [...wait, '--timeout', '999999h'], /the largest value is 277777h/],
    ['no command', [], /no command given/],
    ['.. as an id', ['run', 'wait', '..'], /"\.\."/],
    ['a control character in an id', ['run', 'cancel', 'a\u0007b'], /runId/],
    ['an extra argument', ['run', 'status', 'a', 'b'], /unexpected argument: "b"/],
    ['two formats', ['run', 'status', 'a', '--json', '--format', 'table'], /cannot be combined/],
    ['a bad port of the mock', ['mock', 'serve', '--port', '70000'], /65535/],
  ])('%s', async (_name, argv, message) => {
    const { code, out, err } = await on.rungate(...argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(on.mock.requests).toHaveLength(0);
    expect(err.split('\n').every((line) => line.length < 400)).toBe(true);
  });

  it('with --json the error is one JSON line on stderr', async () => {
    const { code, out, err } = await on.rungate('run', 'wait', '--json', '--frobnicate', 'x');
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    const { error } = JSON.parse(err);
    expect(Object.keys(error)).toEqual([
      'code',
      'message',
      'status',
      'method',
      'path',
      'details',
      'hint',
      'body',
    ]);
    expect(error.code).toBe('usage');
  });
});

describe('help and version', () => {
  it.each(['--version', '-V', 'version'])('%s prints the version of the package', async (word) => {
    expect(await cli([word])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });
});

describe('global options', () => {
  it('are accepted before and after the command; the last one counts', async () => {
    const id = (await on.rungate(...trigger)).out.trim();
    expect(JSON.parse((await on.rungate('--json', 'run', 'status', id)).out)).toHaveProperty('state');
    expect(JSON.parse((await on.rungate('run', '--json', 'status', id)).out)).toHaveProperty('state');
    expect((await on.rungate('--format', 'json', 'run', 'status', id, '--format', 'ndjson')).out).toMatch(
      /^{.*}\n$/,
    );
  });

  it('take precedence over the environment', async () => {
    const env = { RUNGATE_API_URL: 'http://127.0.0.1:1' };
    const { code } = await on.with({ env })(...trigger, '--api-url', on.mock.url);
    expect(code).toBe(0);
  });

  it('http: to another machine is refused without --insecure-http', async () => {
    const { code, err } = await on.with({ env: { RUNGATE_API_URL: 'http://service.example' } })(...wait);
    expect(code).toBe(78);
    expect(err).toMatch(/--insecure-http/);
  });

  it('--verbose traces each exchange on stderr', async () => {
    const { err } = await on.rungate(...trigger, '--verbose');
    expect(err).toMatch(/\* POST \/api\/ci\/runs → 201 in .* \(request 1\)/);
  });
});

it('an unknown exception is a bug in rungate: it exits with 70, not with Node’s 1', async () => {
  const { io, printed } = memoryIo();
  const write = () => {
    throw new TypeError('oops');
  };
  expect(await main(['--version'], { ...io, out: { ...io.out, write } })).toBe(70);
  expect(printed().err).toMatch(/this is a bug in rungate: oops/);
});
