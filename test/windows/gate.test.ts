import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MockOptions, startMock } from '../../src/mock/server.ts';
import { listen } from '../listen.ts';
import { folderWithSpace, rungate, serviceEnv, sharePath, windowsPath } from './windows.ts';

const folder = folderWithSpace();
const gate = ['run', 'trigger', '--project', 'a shop', '--process', 'checkout', '--wait', '--strict'];

async function service(options: MockOptions = {}) {
  const mock = await startMock({ duration: 100, retryAfterSeconds: 0.05, ...options });
  onTestFinished(() => mock.close());
  return { mock, cwd: folder, env: serviceEnv(mock) };
}

describe('the gate', () => {
  it.each([
    ['passed', 0, [], /✓ a shop \/ checkout .*passed/],
    ['failed', 1, [], /gate failed \(exit 1\)/],
    // The mock suggests the next poll after the deadline, so the gate gives up at once.
    ['stuck', 3, ['--timeout', '1m'], /gate failed \(exit 3\)/],
  ] as const)('for a run that is %s exits with %i', async (outcome, code, more, shows) => {
    const on = await service({ outcome, ...(outcome === 'stuck' && { retryAfterSeconds: 3600 }) });
    const ended = await rungate([...gate, ...more], on);
    expect(ended).toMatchObject({ code, err: expect.stringMatching(shows) });
    expect([...on.mock.state.runs.values()].map(({ request }) => request.projectSlug)).toEqual(['a shop']);
  });

  it('exits with 7 if nothing is listening', async () => {
    const env = { RUNGATE_API_URL: 'http://127.0.0.1:9', RUNGATE_API_KEY: 'key' };
    const ended = await rungate([...gate, '--timeout', '1s'], { cwd: folder, env });
    expect(ended).toMatchObject({
      code: 7,
      err: expect.stringContaining('nothing is listening at 127.0.0.1:9'),
    });
  });

  it('trusts the certificates of a --ca-file, with any kind of path but a file URL', async () => {
    const pem = (name: string) => readFileSync(new URL(`../transport/tls/${name}`, import.meta.url));
    const server = createServer({ key: pem('server.key'), cert: pem('server.pem') }, (_, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"state":"completed","failed":0,"blocked":0}'),
    );
    const port = await listen(server);
    writeFileSync(join(folder, 'ca.pem'), `\ufeff${pem('ca.pem')}`.replaceAll('\n', '\r\n'));
    const url = `https://localhost:${port}`;
    const around = { cwd: folder, env: { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'key' } };
    const wait = ['run', 'wait', 'run_1', '--ca-file'];
    const pemFile = join(folder, 'ca.pem');
    for (const path of [windowsPath(pemFile), '.\\CA.pem', sharePath(pemFile)])
      expect(await rungate([...wait, path], around)).toMatchObject({ code: 0 });
    const ended = await rungate([...wait, `file:///${windowsPath(pemFile).replaceAll('\\', '/')}`], around);
    expect(ended).toMatchObject({ code: 78, err: expect.stringContaining('cannot be read: file:///') });
  });
});

/** Forms of paths that a user may give, with the file in the folder that each means. */
const forms: [form: string, path: (file: string) => string][] = [
  ['a drive letter', (file) => windowsPath(join(folder, file))],
  ['slashes after the drive letter', (file) => windowsPath(join(folder, file)).replaceAll('\\', '/')],
  ['backslashes', (file) => `no\\..\\.\\${file.replaceAll('/', '\\')}`],
  ['a drive letter without a slash', (file) => `${windowsPath(folder).slice(0, 2)}${file}`],
  ['the prefix for long paths', (file) => `\\\\?\\${windowsPath(join(folder, file))}`],
  ['a share', (file) => sharePath(join(folder, file))],
  ['a share and slashes', (file) => sharePath(join(folder, file)).replaceAll('\\', '/')],
  ['the prefix for long paths and a share', (file) => `\\\\?\\UNC${sharePath(join(folder, file)).slice(1)}`],
];

describe('a report', () => {
  it('is written to every form of a path', async () => {
    const on = await service({ outcome: 'failed' });
    const files = [...forms.map((_, index) => `a é ${index}/r.json`), `f/${'long/'.repeat(60)}r.json`];
    const given = files.map((file, index) => forms[index]?.[1](file) ?? file);
    const reports = given.flatMap((path) => ['--report', path]);
    expect(await rungate([...gate, ...reports, '--junit', 'a b\\r.xml'], on)).toMatchObject({
      code: 1,
      err: expect.not.stringContaining('could not'),
    });
    for (const file of files)
      expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toMatchObject({ exitCode: 1 });
    expect(readFileSync(join(folder, 'a b/r.xml'), 'utf8')).toContain('<testsuites');
  });

  it('replaces the file of an earlier build, also if the case differs', async () => {
    const on = await service({ outcome: ['failed', 'passed'] });
    for (const [name, exitCode] of [
      ['again.json', 1],
      ['AGAIN.json', 0],
    ] as const) {
      await rungate([...gate, '--report', name], on);
      const [file = '', ...others] = readdirSync(folder).filter((each) => /^again\.json$/i.test(each));
      expect([JSON.parse(readFileSync(join(folder, file), 'utf8')).exitCode, others]).toEqual([exitCode, []]);
    }
  });

  it.each(['\\\\no-such-server.invalid\\share\\r.json', 'Q:\\r.json'])(
    'that cannot be written to %s is refused before anything is sent',
    async (path) => {
      const on = await service({ outcome: 'passed' });
      const { code, err } = await rungate([...gate, '--report', path], on);
      expect([code, err]).toEqual([78, expect.stringContaining('cannot be written')]);
    },
  );

  it('is refused before anything is sent if another one is the same file', async () => {
    const on = await service();
    const ended = await rungate([...gate, '--report', 'a.json', '--report', '.\\A.JSON'], on);
    expect(ended).toMatchObject({ code: 64, err: expect.stringContaining('the same file') });
    expect(on.mock.requests).toEqual([]);
  });
});
