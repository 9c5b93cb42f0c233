import { describe, expect, it } from 'vitest';
import type { Ended } from './machine.ts';
import type { Course } from './service.ts';
import { openShell, type Shell, type ShellOptions, versionPage } from './shell.ts';

const one = ['rungate', 'gate', '--project', 'shop', '--process', 'checkout', '--json'] as const;

const minute = 60_000;

let shell: Shell;
const open = (end: Course['end'], seconds = 30, options: ShellOptions = {}) => {
  shell = openShell({ end, seconds }, options);
};
const call = (...command: readonly string[]) => shell.call(command);
const runs = () => shell.service.runs.length;
const nextOf = ({ out }: Ended): string[] => JSON.parse(out).next;

/** Runs the commands in `next` while the exit code is 75, at most so often. */
async function goOn(begun: Ended, most = 60): Promise<Ended & { codes: (number | null)[] }> {
  const codes = [begun.code];
  let called = begun;
  while (called.code === 75 && codes.length < most) {
    called = await call(...nextOf(called));
    codes.push(called.code);
  }
  return { ...called, codes };
}

describe('the first command, repeated', () => {
  const short = [...one, '--slice', '12s', '--timeout', '24s'];

  it('goes on with its gate after the timeout, and reports the end of its run', async () => {
    open('failed', 25);
    expect((await call(...short)).code).toBe(75);
    await shell.pause(15_000);
    expect((await call(...short)).code).toBe(1);
    expect(runs()).toBe(1);
  });

  it('is refused while the run of a reported timeout goes on, unless it starts another one with --new', async () => {
    open('never');
    const codes: (number | null)[] = [];
    for (let count = 0; count < 8; count += 1) codes.push((await call(...short)).code);
    expect(codes).toEqual([75, 3, 64, 64, 64, 64, 64, 64]);
    expect(runs()).toBe(1);
    const { err } = await call(...short);
    expect(err).toMatch(/has ended, but .* has not/);
    expect(err).toMatch(/--new/);
    expect((await call(...short, '--new')).code).toBe(75);
    // The command then goes on with the new gate.
    expect((await call(...short)).code).toBe(3);
    expect(runs()).toBe(2);
  });

  it('takes no longer than a slice to see whether the run of a reported timeout goes on', async () => {
    open('never');
    await goOn(await call(...short));
    shell.faults.reads = 'never';
    const before = shell.on.now();
    const { code, err } = await call(...short);
    expect({ code, err }).toMatchObject({ code: 7, err: expect.stringContaining('within 12 s') });
    expect(shell.on.now() - before).toBeLessThanOrEqual(13_000);
  });
});

describe('a slice that ends', () => {
  it('with reads that hang ends the gate at its timeout', async () => {
    open('never');
    shell.faults.reads = 'never';
    const { code, codes } = await goOn(
      await call(...one, '--slice', '5s', '--interval', '1s', '--timeout', '60s'),
    );
    expect([3, 7]).toContain(code);
    expect(codes.length).toBeLessThanOrEqual(15);
  });

  it.each([
    ['does not know the run', 404 as const, 5],
    ['refuses the credential', 403 as const, 6],
  ])('is soon the last one if the service %s', async (_what, status, expected) => {
    open('passed', 1800);
    const begun = await call(...one, '--slice', '5s');
    await shell.pause(minute);
    shell.faults.reads = status;
    const { code, codes } = await goOn(await call(...nextOf(begun)));
    expect([code, codes.length <= 6]).toEqual([expected, true]);
  });

  it.each([
    ['the deployment', () => ['--deployed-url', versionPage, '--deployed-is', 'new', '--deployed-timeout']],
    ['a preview', () => ['--base-url', 'http://127.0.0.1:9', '--ready-timeout']],
  ])('while it waits for %s counts that time, and names the next command', async (_what, waits) => {
    open('passed', 30, { versions: [[0, 'old']] });
    shell.env.RUNGATE_TOKEN = 'token-of-user';
    const begun = await call(...one, '--slice', '9s', '--timeout', '2m', ...waits(), '60s');
    const { code, codes } = await goOn(begun);
    expect(code).toBe(8);
    expect(codes.length).toBeLessThanOrEqual(9);
    expect(runs()).toBe(0);
  });
});

describe('the rules of a gate', () => {
  it.each([
    [['--on', 'failed=warn'], []],
    [['--retries', '1'], ['--strict']],
    [['--cancel-on-timeout'], []],
  ])('with %j do not survive in a command with %j', async (first, then) => {
    open('failed', 60);
    const begun = await call(...one, '--slice', '45s', ...first);
    const { code, err } = await call(...one, '--slice', '45s', ...then);
    expect([code, err]).toEqual([64, expect.stringContaining(`gate --resume ${nextOf(begun).at(-1)}`)]);
    expect(err).toContain('--new');
    expect(runs()).toBe(1);
    expect((await call(...one, '--slice', '45s', ...then, '--new')).code).toBe(75);
    expect(runs()).toBe(2);
  });

  it('from a project file are those of the first slice, whatever the file says later', async () => {
    open('failed', 60, { gates: { web: { process: 'web' } } });
    const begun = await call('rungate', 'gate', '--slice', '45s', '--json');
    shell.on.files['/repo/.rungate.json'] = JSON.stringify({
      project: 'shop',
      gates: { web: { process: 'web', on: { failed: 'warn' } } },
    });
    expect((await call('rungate', 'gate', '--slice', '45s', '--json')).code).toBe(64);
    expect((await goOn(begun)).code).toBe(1);
  });
});

describe('--resume', () => {
  const plain = [...one, '--slice', '45s'];

  it('is the only option of the next command, and goes on with the options of the first one', async () => {
    open('failed', 60);
    const options = ['--on', 'failed=warn', '--ref=--help', '--external-url', 'https://a.test/b'];
    const begun = await call(...plain, ...options);
    expect(nextOf(begun)).toEqual(['rungate', 'gate', '--resume', expect.stringMatching(/^[0-9a-f]{8}$/)]);
    const { code, out } = await goOn(begun);
    expect([code, JSON.parse(out).result]).toEqual([0, 'warn']);
    expect(runs()).toBe(1);
  });

  it.each([['1.a.b'], ['x'], ['0000000g'], ['']])('refuses %j, which is not an id', async (id) => {
    open('passed');
    expect(await call('rungate', 'gate', '--resume', id)).toMatchObject({ code: 64, out: '' });
    expect(shell.sent).toEqual([]);
  });

  it.each([['--strict'], ['--slice', '45s'], ['--new'], ['--api-url', 'https://a.test'], ['web']])(
    'refuses %j, which belongs to the first command',
    async (...words) => {
      open('failed', 60, { gates: { web: { process: 'web' } } });
      const begun = await call('rungate', 'gate', '--slice', '45s', '--json');
      const sent = shell.sent.length;
      expect((await call(...nextOf(begun), ...words)).code).toBe(64);
      expect(shell.sent.length).toBe(sent);
    },
  );

  it('is 78 for a gate whose state cannot be read, in another folder, job or account, or for another address', async () => {
    open('passed', 20);
    const begun = await call(...plain.slice(0, -1), '15s');
    const file = shell.on.state() ?? '';
    const next = nextOf(begun);
    await shell.pause(minute);
    const sent = shell.sent.length;
    const good = { ...shell.env };
    const expectRefused = async () => {
      expect(await call(...next)).toMatchObject({ code: 78, out: '' });
      expect(shell.sent.length).toBe(sent);
      Object.assign(shell.env, good);
    };
    const edits = [
      file.replace('"version":2', '"version":9'),
      file.replace('"advisory":false', '"advisory":true'),
      file.replace('"live":true', '"live":{}'),
    ];
    for (const text of ['', '{', '[]', file.slice(0, -9), ...edits]) {
      shell.on.store(text);
      await expectRefused();
      shell.on.store(file);
    }
    shell.on.loseState();
    await expectRefused();
    shell.on.store(file);
    shell.env.RUNGATE_API_KEY = 'rgk_another';
    await expectRefused();
    shell.env.RUNGATE_API_URL = 'http://127.0.0.1:9';
    await expectRefused();
    Object.assign(shell.env, { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7' });
    await expectRefused();
    for (const name of ['CI', 'GITHUB_ACTIONS', 'GITHUB_RUN_ID']) delete shell.env[name];
    shell.on.files['/repo/sub/.git'] = '';
    shell.cwd = '/repo/sub';
    await expectRefused();
    shell.cwd = '/repo';
    expect((await call(...next)).code).toBe(0);
  });

  it('removes the report of an earlier end, whatever it ends with', async () => {
    open('passed', 20);
    const begun = await call(...plain, '--junit', 'end.xml');
    expect(begun.code).toBe(0);
    const [id = ''] = Object.keys(JSON.parse(begun.state ?? '').gates);
    expect(Object.keys(shell.on.files)).toContain('end.xml');
    shell.faults.reads = 'never';
    expect((await call('rungate', 'gate', '--resume', id)).code).toBe(75);
    expect(Object.keys(shell.on.files)).not.toContain('end.xml');
  });

  it('passes a stored end only if a read confirms it', async () => {
    const gates = { api: { process: 'api' }, web: { process: 'web' } };
    open('passed', 20, { gates });
    const begun = await call('rungate', 'gate', '--slice', '15s', '--json');
    const ended = await goOn(begun);
    expect(ended.code).toBe(0);
    expect((await call(...nextOf(begun))).code).toBe(0);
    shell.service.runs.length = 0;
    await shell.pause(minute);
    expect((await call(...nextOf(begun))).code).toBe(5);
    expect(runs()).toBe(0);
  });
});

it('another build does not let the same command start a second run beside the one that goes on', async () => {
  open('never', 0, {
    versions: [
      [0, 'new'],
      [10_000, 'other'],
      [20_000, 'new'],
    ],
  });
  const page = ['--deployed-is', 'new', '--deployed-url', versionPage];
  const command = [...one, '--slice', '45s', '--timeout', '2m', ...page];
  expect((await goOn(await call(...command))).code).toBe(8);
  expect((await call(...command)).code).toBe(64);
  expect(runs()).toBe(1);
});

it('a password in the address of the service is not stored', async () => {
  open('passed');
  shell.env.RUNGATE_API_URL = 'https://me:hunter2hunter2@service.test';
  expect((await call(...one, '--slice', '45s')).code).toBe(78);
  expect(shell.on.state() ?? '').not.toContain('hunter2');
});

describe('a state that cannot be written', () => {
  it('is an error at the start, and nothing is sent', async () => {
    open('passed');
    shell.disk.readOnly = true;
    const { code, err } = await call(...one, '--slice', '45s');
    expect(code).toBe(78);
    expect(err).toMatch(/slices\.json/);
    expect(shell.sent).toEqual([]);
  });

  it('any more lets the command go on to the end of the gate', async () => {
    open('passed', 120, {
      versions: [
        [0, 'new'],
        [60_000, 'other'],
        [70_000, 'new'],
      ],
    });
    const begun = await call(
      ...[...one, '--slice', '45s', '--deployed-url', versionPage],
      ...['--deployed-is', 'new'],
    );
    expect(begun.code).toBe(75);
    shell.disk.readOnly = true;
    const { code, err } = await call(...nextOf(begun));
    expect(code).toBe(8);
    expect(err).toMatch(/EROFS/);
  });
});

it('three loops at once in one work tree hold one gate', async () => {
  open('failed', 240);
  const plain = [...one, '--slice', '45s'];
  const begun = await call(...plain);
  const ids = new Set([nextOf(begun).at(-1)]);
  for (const _loop of [1, 2]) ids.add(nextOf(await call(...plain)).at(-1));
  expect(ids.size).toBe(1);
  expect((await goOn(begun)).code).toBe(1);
  expect((await call(...nextOf(begun))).code).toBe(1);
  expect(runs()).toBe(1);
});
