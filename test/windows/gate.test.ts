import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MockOptions, startMock } from '../../src/mock/server.ts';
import { folderWithSpace, rungate, serviceEnv, windowsPath } from './windows.ts';

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
    ['blocked', 2, [], /gate failed \(exit 2\)/],
    // The mock suggests the next poll after the deadline, so the gate gives up at once.
    ['stuck', 3, ['--timeout', '1m'], /gate failed \(exit 3\)/],
    ['cancelled', 4, [], /gate failed \(exit 4\)/],
  ] as const)('for a run that is %s exits with %i', async (outcome, code, more, shows) => {
    const on = await service({ outcome, ...(outcome === 'stuck' && { retryAfterSeconds: 3600 }) });
    const ended = await rungate([...gate, ...more], on);
    expect(ended).toMatchObject({ code, err: expect.stringMatching(shows) });
    expect([...on.mock.state.runs.values()].map(({ request }) => request.projectSlug)).toEqual(['a shop']);
  });

  it('exits with 5 if the service fails', async () => {
    const on = await service({ faults: [{ kind: 'status', status: 422, endpoint: 'run.trigger' }] });
    expect(await rungate(gate, on)).toMatchObject({ code: 5, err: expect.stringContaining('(422)') });
  });

  it('exits with 6 if the service rejects the API key', async () => {
    const on = await service();
    const ended = await rungate(gate, { ...on, env: { ...on.env, RUNGATE_API_KEY: 'wrong' } });
    expect(ended).toMatchObject({ code: 6, err: expect.stringContaining('(401)') });
  });

  it('exits with 7 if nothing is listening', async () => {
    const env = { RUNGATE_API_URL: 'http://127.0.0.1:9', RUNGATE_API_KEY: 'key' };
    const ended = await rungate([...gate, '--timeout', '1s'], { cwd: folder, env });
    expect(ended).toMatchObject({
      code: 7,
      err: expect.stringContaining('nothing is listening at 127.0.0.1:9'),
    });
  });

  it('exits with 64 for a wrong option, and with 78 without a service', async () => {
    expect(await rungate([...gate, '--no-such'], { cwd: folder })).toMatchObject({ code: 64 });
    expect(await rungate(gate, { cwd: folder })).toMatchObject({ code: 78 });
  });

  it('creates one run if the response to the create is lost', async () => {
    const on = await service({
      outcome: 'passed',
      faults: [{ kind: 'reset', endpoint: 'run.trigger', times: 1 }],
    });
    expect(await rungate(gate, on)).toMatchObject({ code: 0 });
    expect(on.mock.state.runs.size).toBe(1);
  });

  it('trusts the certificates of a --ca-file with backslashes', async () => {
    const pem = (name: string) => readFileSync(new URL(`../transport/tls/${name}`, import.meta.url));
    const server = createServer({ key: pem('server.key'), cert: pem('server.pem') }, (_, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"state":"completed","failed":0,"blocked":0}'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    writeFileSync(join(folder, 'ca.pem'), pem('ca.pem').toString().replaceAll('\n', '\r\n'));
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const around = { cwd: folder, env: { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'key' } };
    const wait = ['run', 'wait', 'run_1'];
    expect(await rungate([...wait, '--ca-file', windowsPath(join(folder, 'ca.pem'))], around)).toMatchObject({
      code: 0,
    });
    expect(await rungate([...wait, '--ca-file', '.\\ca.pem'], around)).toMatchObject({ code: 0 });
  });
});

describe('a report', () => {
  const paths: [form: string, path: string, file: string][] = [
    ['a drive letter', windowsPath(join(folder, 'a é', 'r.json')), 'a é/r.json'],
    [
      'slashes after the drive letter',
      windowsPath(join(folder, 'b', 'r.json')).replaceAll('\\', '/'),
      'b/r.json',
    ],
    ['backslashes', 'c d\\..\\c\\r.json', 'c/r.json'],
    ['the prefix for long paths', `\\\\?\\${windowsPath(join(folder, 'e', 'r.json'))}`, 'e/r.json'],
    ['more than 260 characters', `f\\${'long\\'.repeat(60)}r.json`, `f/${'long/'.repeat(60)}r.json`],
  ];

  it.each(paths)('is written to a path with %s', async (_form, path, file) => {
    const on = await service({ outcome: 'failed' });
    const junit = `${path.slice(0, -'json'.length)}xml`;
    expect(await rungate([...gate, '--report', path, '--junit', junit], on)).toMatchObject({
      code: 1,
      err: expect.not.stringContaining('could not'),
    });
    expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toMatchObject({ exitCode: 1 });
    expect(readFileSync(join(folder, file.replace(/json$/, 'xml')), 'utf8')).toContain('<testsuites');
  });

  it('replaces the file of an earlier build', async () => {
    const on = await service({ outcome: ['failed', 'passed'] });
    for (const exitCode of [1, 0]) {
      await rungate([...gate, '--report', 'again.json'], on);
      expect(JSON.parse(readFileSync(join(folder, 'again.json'), 'utf8'))).toMatchObject({ exitCode });
    }
  });

  it.each(['\\\\no-such-server.invalid\\share\\r.json', 'Q:\\r.json'])(
    'that cannot be written to %s fails a passing gate',
    async (path) => {
      const on = await service({ outcome: 'passed' });
      const ended = await rungate([...gate, '--report', path], on);
      expect(ended).toMatchObject({ code: 78, err: expect.stringContaining('could not be written') });
    },
  );
});
