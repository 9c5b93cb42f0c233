import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/version.ts';
import { program, type Running, start } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';
import { serviceHost, startProxy, startService } from '../transport/proxied.ts';

/** A folder with a repository, and the only folder on the path: rungate and the shell, but neither Node nor git. */
const folder = folderForFile();
beforeAll(() => {
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'shop/.git'), { recursive: true });
  symlinkSync(program[0], join(folder, 'bin/rungate'));
  symlinkSync('/bin/sh', join(folder, 'bin/sh'));
});

const run = (command: string, env: Record<string, string> = {}): Running =>
  start(
    '/bin/sh',
    ['-c', command],
    { PATH: join(folder, 'bin'), HOME: folder, NODE_OPTIONS: '', ...env },
    join(folder, 'shop'),
  );

it('--version and doctor name the build', async () => {
  const build = `${version} \\(binary, Node 24\\.\\d+\\.\\d+\\)`;
  for (const way of ['--version', '-V', 'version', '--version --no-color'])
    expect((await run(`rungate ${way}`).ended).out).toMatch(new RegExp(`^${build}\\n$`));
  expect((await run('rungate doctor').ended).out).toMatch(new RegExp(`^✓ version: rungate ${build}\\n`));
});

describe('without Node', () => {
  it.each([
    ['passed', 0],
    ['failed', 1],
    ['blocked', 2],
  ])('a gate that the binary runs against its own mock exits by the verdict %s', async (outcome, code) => {
    const exec = `rungate mock exec --outcome ${outcome} --duration 100ms --retry-after 0.1`;
    const { code: exit, err } = await run(`${exec} -- rungate gate --project shop --process checkout`).ended;
    expect(exit, err).toBe(code);
  });

  it('the first steps name rungate, not npx, and their first command passes', async () => {
    const { code, err } = await run('rungate').ended;
    expect(code).toBe(64);
    expect(err).not.toContain('npx');
    const [, first = ''] = /^ {2}(rungate mock exec .*)$/m.exec(err) ?? [];
    expect((await run(first).ended).code).toBe(0);
  });

  it('selftest starts the binary for a step that calls rungate, and finds a step that ignores the verdict', async () => {
    const selftest = 'rungate selftest --scenario passed --scenario failed --time-limit 60s --';
    const gate = 'rungate gate --project shop --process checkout';
    const good = await run(`${selftest} sh -c '${gate}'`).ended;
    expect(good.code, good.out + good.err).toBe(0);
    expect((await run(`${selftest} sh -c '${gate} || true'`).ended).code).toBe(1);
  });

  it('init writes a pipeline, and its next steps name rungate', async () => {
    const { code, err } = await run('rungate init --project shop --process checkout --ci gitlab').ended;
    expect(code, err).toBe(0);
    expect(existsSync(join(folder, 'shop/.gitlab-ci.yml'))).toBe(true);
    expect(err).toContain('rungate login --api-url');
    expect(err).not.toContain('npx rungate');
  });

  it('login keeps a key in a profile, which logout removes', async () => {
    writeFileSync(join(folder, 'key'), 'rg_test_key\n');
    const login = await run('rungate login --api-url http://127.0.0.1:9 --no-check < ../key').ended;
    expect(login.code, login.err).toBe(0);
    expect((await run('rungate config list').ended).out).toMatch(/127\.0\.0\.1:9/);
    expect((await run('rungate logout').ended).code).toBe(0);
  });

  it('a gate reaches a service with a private certificate through a proxy', async () => {
    const port = await startService((_request, response) =>
      response.end(JSON.stringify({ state: 'completed', failed: 0, blocked: 0 })),
    );
    const proxy = await startProxy();
    const ca = fileURLToPath(new URL('../transport/tls/service-ca.pem', import.meta.url));
    const env = {
      RUNGATE_API_URL: `https://${serviceHost}:${port}`,
      RUNGATE_API_KEY: 'k',
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
    };
    const trusted = await run(`rungate run wait run_1 --ca-file ${ca}`, env).ended;
    expect(trusted.code, trusted.err).toBe(0);
    expect(proxy.connects[0]).toMatchObject({ target: `${serviceHost}:${port}` });
    const refused = await run('rungate run wait run_1', env).ended;
    expect(refused.code, refused.err).toBe(7);
    expect(refused.err).toContain('--ca-file');
  });
});

it('a copy of any name, in a folder with a space, starts itself', async () => {
  const copy = join(folder, 'a b');
  mkdirSync(copy);
  symlinkSync(program[0], join(copy, 'rungate linux'));
  const words = [
    'selftest',
    '--scenario',
    'failed',
    '--',
    'sh',
    '-c',
    'rungate gate --project a --process b',
  ];
  const { code, out, err } = await start(join(copy, 'rungate linux'), words, {}, copy).ended;
  expect(code, out + err).toBe(0);
});

it('a file that only others may run needs no more than that right', async () => {
  const copy = join(folder, 'unreadable');
  writeFileSync(copy, readFileSync(program[0]));
  chmodSync(copy, 0o711);
  chmodSync(folder, 0o755);
  const asOther = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
  const [file = '', ...args] = [...asOther, copy, '--version'];
  expect((await start(file, args).ended).code).toBe(0);
});
