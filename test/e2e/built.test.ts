import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { listen } from '../listen.ts';
import { isBinary, program, root, rungate, shellProgram, start } from './built.ts';

let mock: MockServer;
let env: Record<string, string>;
beforeEach(async () => {
  mock = await startMock({ duration: 300, retryAfterSeconds: 0.1 });
  env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
});
afterEach(() => mock.close());

describe('the built command', () => {
  it('gates a run from trigger to exit code, and ends on its own', async () => {
    const args = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait', '--strict'];
    const ended = await rungate(args, env).ended;
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(ended.out).toMatch(/^run_\w+\tpassed\t/);
  });

  it('calls process.exit only for unread output, a second signal, process 1, a completion and an uncaught error', () => {
    const sources = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => readFileSync(`${root}/src/${file}`, 'utf8').split('\n'))
      .filter((line) => /process\.exit\(/.test(line));
    expect(sources.sort()).toEqual([
      '    if (stopping) process.exit(128 + signalNumbers[signal]);',
      '    process.exit(code);',
      '  if (delivered.includes(false)) process.exit();',
      '  if (now) process.exit();',
      '  if (process.pid === 1) process.exit(128 + signalNumbers[signal]);',
    ]);
  });
});

it.skipIf(isBinary).each(['throw new Error("late")', 'Promise.reject(new Error("late"))'])(
  'exits with 70 on an uncaught error: %s',
  async (code) => {
    // As soon as rungate has installed its handler, however slow the machine is.
    const poll = `if (process.listenerCount('uncaughtException') > 0) { clearInterval(timer); ${code} }`;
    const late = `data:text/javascript,const timer = setInterval(() => { ${poll} }, 5)`;
    const hooked = { ...env, NODE_OPTIONS: `--import "${late.replaceAll('"', '%22')}"` };
    const ended = await rungate(['run', 'wait', 'nowhere', '--api-url', 'http://127.0.0.1:1'], hooked).ended;
    expect(ended.code).toBe(70);
    expect(ended.err).toMatch(/bug in rungate[\s\S]*late/);
  },
);

describe('piped output', () => {
  const big = {
    state: 'completed',
    failed: 0,
    blocked: 0,
    log: Array.from({ length: 40_000 }, (_, i) => `line ${i}`),
  };

  /** Runs a script with a service whose response is large. */
  async function withBig(script: string) {
    const port = await listen(createServer((_request, response) => response.end(JSON.stringify(big))));
    const env = { RUNGATE_API_URL: `http://127.0.0.1:${port}`, RUNGATE_API_KEY: 'k' };
    return start('sh', ['-c', script], env).ended;
  }

  it('is complete even if it is large and the pipe is read slowly', async () => {
    const { out } = await withBig(`${shellProgram} run status x --json | (sleep 0.5; cat)`);
    expect(out.length).toBeGreaterThan(500_000);
    expect(JSON.parse(out)).toEqual({ ...big, runId: 'x' });
  });

  it('may be cut off: a closed pipe is not an error', async () => {
    const script = `{ ${shellProgram} run status x --json; echo "code $?" >&2; } | head -n 1`;
    expect(await withBig(script)).toMatchObject({ out: '{\n', err: 'code 0\n' });
  });

  it.skipIf(!existsSync('/dev/full'))('is an error if it cannot be written', async () => {
    const script = `${shellProgram} run status "$1" --json > /dev/full`;
    const id = (await rungate(['run', 'trigger', '--project', 'a', '--process', 'b'], env).ended).out.trim();
    const ended = await start('sh', ['-c', script, 'sh', id], env).ended;
    expect(ended.code).toBe(78);
    expect(ended.err).toMatch(/could not be written to standard output/);
  });

  it.skipIf(!existsSync('/dev/full')).each(['--version', 'help'])(
    'is an error if %s cannot write it',
    async (word) => {
      const ended = await start('sh', ['-c', `${shellProgram} ${word} > /dev/full`]).ended;
      expect(ended.code).toBe(78);
      expect(ended.err).toMatch(/^error: the result could not be written to standard output/);
    },
  );

  it('keeps the exit code of a failed gate if the pipe is closed', async () => {
    const script = `{ sleep 0.2; ${shellProgram} run wait nowhere --json; echo "code $?" >&2; } | true`;
    const ended = await start('sh', ['-c', script], env).ended;
    expect(ended.err).toMatch(/code 5\n$/);
  });
});

describe('mock exec', () => {
  it('runs a command with the settings, and exits with its exit code', async () => {
    const show = 'echo "$RUNGATE_API_URL $RUNGATE_API_KEY $RUNGATE_TOKEN"; exit 9';
    const ended = await rungate(['mock', 'exec', '--', 'sh', '-c', show]).ended;
    expect(ended.code).toBe(9);
    expect(ended.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+ rg_\S+ \S+\.\S+\.\S+\n$/);
  });

  it('passes a stop signal on to the command, and waits for it', async () => {
    const gate = ['run', 'trigger', '--project', 'a', '--process', 'b', '--wait', '--json'];
    const running = rungate([
      'mock',
      'exec',
      '--outcome',
      'stuck',
      '--retry-after',
      '0.1',
      '--',
      ...program,
      ...gate,
    ]);
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(JSON.parse(ended.out)).toMatchObject({ interruptedBy: 'SIGTERM', cancellation: 'requested' });
  });
});

describe('mock serve', () => {
  it('prints settings that a shell can evaluate, serves, and stops on a signal', async () => {
    const running = rungate(['mock', 'serve', '--port', '0', '--duration', '0.1s']);
    await running.shows(/stop it with Ctrl-C/);
    const ids = rungate(['mock', 'serve', '--port', '0']);
    await ids.shows(/export RUNGATE_API_KEY/);
    ids.child.kill('SIGTERM');
    const { out } = await ids.ended;
    expect(out).toMatch(
      /^export RUNGATE_API_URL=http:\/\/127\.0\.0\.1:\d+\nexport RUNGATE_API_KEY=\S+\nexport RUNGATE_TOKEN=\S+\n$/,
    );
    running.child.kill('SIGINT');
    const served = await running.ended;
    expect(served.code).toBe(130);
  });
});
