import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
let server: Server | undefined;
afterEach(async () => {
  await on?.close();
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const commit = '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c';
const gate = [...trigger, '--wait', '--json', '--timeout', '30m', '--commit-sha', commit] as const;
const page = () => `${on.mock.url}/_mock/version`;
const runs = () => on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');
const reads = () => on.mock.requests.filter(({ path }) => path.startsWith('/_mock/version'));

const always = (fault: Fault, skip = 0): Fault => ({
  ...fault,
  endpoint: 'deployed',
  times: Number.POSITIVE_INFINITY,
  skip,
});
const some = (fault: Fault, skip: number, times: number): Fault => ({ ...always(fault, skip), times });

const new7 = commit.slice(0, 7);
const seconds = (text: string) => text.replace(/\bnew\b/g, new7);

/** A run takes 60 s of the fake clock. The gate creates it 2 s after its first read that shows the expected build. */
const options: MockOptions = { duration: 60_000 };

interface Rollout {
  /** The versions: `new` is the expected build. */
  deployed: string;
  faults?: Fault[];
  outcome?: MockOptions['outcome'];
  flags?: string[];
}

const never = { verdict: 'mismatch', code: 8, creates: 0 };
const changed = { verdict: 'mismatch', code: 8, creates: 1 };
const passed = { verdict: 'passed', code: 0, creates: 1 };
const unknown = (code: number) => ({ verdict: 'unobserved', code, creates: 1 });

it('--verbose traces each read of the page, without its query', async () => {
  on = await stage({ ...options, deployed: commit, faults: [some({ kind: 'status', status: 500 }, 1, 1)] });
  const { err } = await on.rungate(...gate, '--verbose', '--deployed-url', `${page()}?key=hidden`);
  const traced = err.split('\n').filter((line) => line.startsWith(`* GET ${page()}?… → `));
  expect(traced.map((line) => line.split(' ')[4]).slice(0, 5)).toEqual(['200', '500', '200', '200', '200']);
  expect(traced).toHaveLength(reads().length);
  expect(err).not.toContain('hidden');
});

describe('the deployed build', () => {
  it.each<[string, Rollout, { verdict: string; code: number; creates: number }]>([
    ['is new all the time', { deployed: 'new' }, passed],
    ['is old all the time', { deployed: 'old' }, never],
    ['becomes new before the run is created', { deployed: 'old,new@1m' }, passed],
    ['becomes new just in time', { deployed: 'old,new@298s' }, passed],
    ['alternates until it is new', { deployed: 'old,old/new@10s,new@1m' }, passed],
    ['alternates all the time', { deployed: 'old/new' }, never],
    ['becomes old during the run', { deployed: 'new,old@30s' }, changed],
    ['becomes old after the run', { deployed: 'new,old@66s' }, changed],
    ['becomes old after the last read', { deployed: 'new,old@68s' }, passed],
    ['becomes old during a failed run', { deployed: 'new,old@30s', outcome: 'failed' }, changed],
    [
      'is new during a failed run',
      { deployed: 'new', outcome: 'failed' },
      { ...passed, verdict: 'failed', code: 1 },
    ],
    [
      'becomes old during a run that does not end',
      { deployed: 'new,old@30s', outcome: 'stuck', flags: ['--timeout', '2m'] },
      changed,
    ],
    [
      'is new during a run that does not end',
      { deployed: 'new', outcome: 'stuck', flags: ['--timeout', '2m'] },
      { verdict: 'timeout', code: 3, creates: 1 },
    ],

    [
      'responds with 500 before the run is created',
      { deployed: 'new', faults: [some({ kind: 'status', status: 500 }, 0, 20)] },
      passed,
    ],
    [
      'always responds with 500',
      { deployed: 'new', faults: [always({ kind: 'status', status: 500 })] },
      never,
    ],
    [
      'responds with 500 after the run',
      { deployed: 'new', faults: [always({ kind: 'status', status: 500 }, 5)] },
      unknown(5),
    ],
    [
      'becomes old, then responds with 500',
      { deployed: 'new,old@30s', faults: [always({ kind: 'status', status: 500 }, 8)] },
      changed,
    ],
    [
      'resets the connection after the run was created',
      { deployed: 'new', faults: [always({ kind: 'reset' }, 3)] },
      unknown(7),
    ],
    [
      'is a part of a response after the run was created',
      { deployed: 'new', faults: [always({ kind: 'status', status: 206, body: 'old' }, 3)] },
      unknown(5),
    ],

    ['is always HTML', { deployed: 'new', faults: [always({ kind: 'html-200' })] }, never],
    ['is HTML after the run', { deployed: 'new', faults: [always({ kind: 'html-200' }, 5)] }, unknown(5)],

    ['redirects to itself', { deployed: 'new', faults: [some({ kind: 'redirect-same' }, 1, 1)] }, passed],
    ['redirects to another origin', { deployed: 'new', faults: [always({ kind: 'redirect-other' })] }, never],

    [
      'is slow once',
      {
        deployed: 'new',
        faults: [some({ kind: 'stall-headers' }, 1, 1), some({ kind: 'stall-body' }, 2, 1)],
        // In real time.
        flags: ['--request-timeout', '2s'],
      },
      passed,
    ],
    ['is too large', { deployed: 'new', faults: [some({ kind: 'huge' }, 0, 3)] }, passed],
  ])('%s', async (_what, { deployed, faults, outcome, flags = [] }, expected) => {
    on = await stage({ ...options, deployed: seconds(deployed), faults, outcome });
    // One row tries the default, five minutes, which is 300 reads.
    const brief = expected === never && !deployed.includes('@') ? ['--deployed-timeout', '20s'] : [];
    const { code, out } = await on.rungate(...gate, '--deployed-url', page(), ...brief, ...flags);
    const report = JSON.parse(out);
    expect({ verdict: report.runs[0].verdict, code, creates: runs().length }).toEqual(expected);
    expect(report.deployed).toMatchObject({
      url: page(),
      pointer: null,
      expected: commit,
      matches:
        { passed: true, failed: true, timeout: true, mismatch: expected.creates === 0 ? null : false }[
          expected.verdict
        ] ?? null,
    });
  });

  const digest = `sha256:${'ab'.repeat(32)}`;
  const second = `sha256:${'cd'.repeat(32)}`;
  const subjects = ['--subject', `ghcr.io/acme/shop:1.2@${digest}`, '--subject', `worker@${second}`];
  /** Until the page has shown one of them. */
  const expected = `${commit} or ${digest} or ${second}`;
  it.each<[string, string, string[], { expected: string; code: number }]>([
    ['the commit', commit, [], { expected: commit, code: 0 }],
    ['the digest', digest, [], { expected: digest, code: 0 }],
    ['the digest of the second subject', second, [], { expected: second, code: 0 }],
    ['another digest', digest.replaceAll('ab', 'eb'), [], { expected, code: 8 }],
    ['the tag', 'ghcr.io/acme/shop:1.2', [], { expected, code: 8 }],
    [
      'the commit, but --deployed-is is a digest',
      commit,
      ['--deployed-is', digest],
      { expected: digest, code: 8 },
    ],
    ['the version of --deployed-is', 'v1', ['--deployed-is', 'v1'], { expected: 'v1', code: 0 }],
  ])('with subjects is %s', async (_what, text, flags, { expected, code }) => {
    on = await stage({ ...options, deployed: 'old', faults: [always({ kind: 'reply', text })] });
    const files: Record<string, string> = {};
    const argv = [...gate, '--deployed-url', page(), '--deployed-timeout', '5s', ...subjects];
    const result = await on.with({ files })(...argv, '--receipt', 'r.json', ...flags);
    expect(result.code).toBe(code);
    const matches = code === 0 ? true : null;
    expect(JSON.parse(result.out).deployed).toMatchObject({ expected, matches });
    const { predicate } = JSON.parse(files['r.json'] ?? '');
    const { deployed } = predicate.configuration[0].annotations.rungate;
    expect(deployed).toMatchObject({ expected, matches, version: text });
    expect(runs()).toHaveLength(code === 0 ? 1 : 0);
    if (code === 0) return;
    const all = expected.split(' or ').map((version) => `"${version}"`);
    expect(result.err).toContain(`${page()} did not show ${all.join(' or ')} in 3 reads in a row within 5 s`);
  });

  it('that is 1 GiB long is not read to its end', async () => {
    let sent = 0;
    server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': 2 ** 30 });
      const chunk = Buffer.alloc(65_536, 0x20);
      const write = () => {
        while (sent < 2 ** 30 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.on('drain', write);
      write();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server?.once('listening', resolve));
    on = await stage(options);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { code, out } = await on.rungate(...gate, '--deployed-url', url, '--deployed-timeout', '3s');
    expect(code).toBe(8);
    expect(JSON.parse(out).deployed.reads[0].error).toContain('too large');
    expect(runs()).toEqual([]);
    // Four reads; what the sockets buffer is sent, too.
    expect(sent).toBeLessThan(4 * 2 ** 25);
  });
});

describe('the reads of the version page', () => {
  it('are three before the run is created, one with each status read, and three after the verdict', async () => {
    on = await stage({ ...options, deployed: new7 });
    const { out } = await on.rungate(...gate, '--deployed-url', page());
    const order = on.mock.requests.map(({ endpoint, path }) => endpoint ?? path.slice(7));
    expect(order.slice(0, 4)).toEqual(['version', 'version', 'version', 'run.trigger']);
    expect(order.slice(-3)).toEqual(['version', 'version', 'version']);
    const { attempts } = JSON.parse(out).runs[0];
    expect(reads()).toHaveLength(3 + attempts + 3);
  });

  it('never send a credential of the service', async () => {
    on = await stage({ ...options, deployed: new7 });
    await on.rungate(...gate, '--deployed-url', page());
    const sent = JSON.stringify(reads());
    expect(sent).not.toContain(on.mock.apiKey);
    expect(sent).not.toContain(on.mock.token);
    expect(Object.keys(reads()[0]?.headers ?? {})).not.toContain('x-api-key');
  });

  it('send the headers of the file, which no output contains', async () => {
    const faults = [some({ kind: 'reply', text: 'Bearer page-secret-1' }, 0, 1)];
    on = await stage({ ...options, deployed: new7, faults });
    const files = { '/h': 'Authorization: Bearer page-secret-1\r\n\r\nX-Env: staging\n' };
    const flags = ['--deployed-url', `${page()}?key=query-secret`, '--deployed-header-file', '/h'];
    const { code, out, err } = await on.with({ files })(...gate, ...flags);
    expect(code).toBe(0);
    expect(reads()[0]?.headers).toMatchObject({ authorization: 'Bearer page-secret-1', 'x-env': 'staging' });
    expect(reads()[0]?.query).toEqual({ key: 'query-secret' });
    expect(out + err).not.toMatch(/page-secret|query-secret/);
    expect(JSON.parse(out).deployed.url).toBe(`${page()}?…`);
  });

  it('show hostile text as one harmless, short line', async () => {
    const text = `[31m\n::error::x\u202e${'y'.repeat(1000)}`;
    on = await stage({ ...options, deployed: new7, faults: [some({ kind: 'reply', text }, 0, 1)] });
    const { err, out } = await on.rungate(...gate, '--deployed-url', page());
    expect(err).not.toMatch(/^::error|\u202e|y{300}/m);
    expect(JSON.parse(out).deployed.reads[0].text).toHaveLength(200);
  });
});

describe('the progress', () => {
  it('warns once about another build, and the result has the counts of the run', async () => {
    on = await stage({ ...options, deployed: `${new7},old@30s`, outcome: 'failed' });
    const { err, out } = await on.rungate(
      ...trigger,
      '--wait',
      '--commit-sha',
      commit,
      '--deployed-url',
      page(),
    );
    expect(err.match(/warning: the deployed build is "old", not the expected one/g)).toHaveLength(1);
    expect(err).toMatch(
      /did not test only the expected build: http\S+ showed "old" during the run .*\(2 failed, 0 blocked\)/,
    );
    expect(out).toMatch(/^run_\w+\tmismatch\tcompleted\t2\t0\t/);
  });
});

describe('--on', () => {
  it('mismatch=warn does not let a gate pass that has created no run', async () => {
    on = await stage({ ...options, deployed: 'old' });
    const { code, err, out } = await on.rungate(
      ...trigger,
      '--wait',
      '--commit-sha',
      commit,
      '--deployed-url',
      page(),
      '--on',
      'mismatch=warn',
    );
    expect([code, runs().length]).toEqual([8, 0]);
    expect(out).toBe('\tmismatch\t\t\t\t\n');
    expect(err).toContain('✗ shop / checkout was not started');
  });
});

describe('run wait', () => {
  const started = async () => (await on.rungate(...trigger, '--commit-sha', commit)).out.trim();
  const wait = (id: string, ...flags: string[]) =>
    on.rungate('run', 'wait', id, '--json', '--deployed-url', page(), '--deployed-is', commit, ...flags);

  it('checks the build of a run that had ended', async () => {
    on = await stage({ duration: 0, deployed: 'old' });
    expect((await wait(await started())).code).toBe(8);
    expect(reads()).toHaveLength(4);
  });
});

describe('a stop', () => {
  const stopAt = async (deployed: string, when: () => boolean, ...flags: string[]) => {
    on = await stage({ ...options, deployed });
    return on.with({ stopsWhen: when })(...gate, '--deployed-url', page(), ...flags);
  };

  it('before the expected build is deployed creates nothing', async () => {
    const { code, out } = await stopAt('old', () => reads().length === 5);
    expect([code, runs().length, reads().length]).toEqual([143, 0, 5]);
    expect(JSON.parse(out)).toMatchObject({ result: 'fail', interruptedBy: 'SIGTERM', runs: [] });
  });
});

describe('nothing is sent', () => {
  const refused = async (code: number, text: string, flags: string[], settings = {}, options = trigger) => {
    on = await stage({ deployed: new7 });
    const result = await on.with(settings)(...options, ...flags);
    expect(result.err).toContain(text);
    expect(result.code).toBe(code);
    expect(on.mock.requests).toEqual([]);
  };

  it('without a known commit', () =>
    refused(64, 'the expected build is unknown', ['--wait', '--deployed-url', 'https://a.example/v']));

  it.each(['--deployed-pointer=/a', '--deployed-is=1', '--deployed-timeout=1m', '--deployed-header-file=/h'])(
    'with %s and no URL',
    (flag) => refused(64, 'has no effect without the URL of the version page', ['--wait', flag]),
  );

  it.each([
    ['an empty URL', ['--deployed-url='], '--deployed-url is empty'],
    ['a URL of http', ['--deployed-url=http://a.example/v'], 'uses http, which is not encrypted'],
    ['a URL with a password', ['--deployed-url=https://a:b@a.example/v'], '--deployed-header-file'],
    ['a URL with a placeholder', ['--deployed-url=https://a.example/$V'], 'placeholder'],
    [
      'a pointer without a slash',
      ['--deployed-url=https://a.example/', '--deployed-pointer=version'],
      'is not a JSON pointer',
    ],
    ['an empty text', ['--deployed-url=https://a.example/', '--deployed-is= '], '--deployed-is is empty'],
    ['a timeout of 0', ['--deployed-url=https://a.example/', '--deployed-timeout=0'], 'is not a duration'],
  ])('with %s', async (_what, flags, text) => {
    on = await stage({});
    const { code, err } = await on.rungate(...gate, ...flags);
    expect([64, 78]).toContain(code);
    expect(err).toContain(text);
    expect(on.mock.requests).toEqual([]);
  });

  it.each([
    ['is missing', {}, 78, 'the header file cannot be read'],
    ['has a line that is not a header', { '/h': 'X-A: b\ntop-secret-token\n' }, 64, 'line 2 is not a header'],
    ['sets the host', { '/h': 'Host: b' }, 64, 'cannot be set as a header'],
    ['has a value that is not ASCII', { '/h': 'X-A: é' }, 64, 'must be visible ASCII'],
  ])('if the header file %s', async (_what, files, code, text) => {
    on = await stage({ deployed: new7 });
    const flags = ['--deployed-url', page(), '--deployed-header-file', '/h'];
    const result = await on.with({ files })(...gate, ...flags);
    expect(result.err).toContain(text);
    expect(result.err).not.toContain('top-secret-token');
    expect(result.code).toBe(code);
    expect(on.mock.requests).toEqual([]);
  });
});

describe('each run is created by one request', () => {
  it('by a re-run job, which attaches to its run and checks the build from its first status read on', async () => {
    on = await stage({ ...options, deployed: new7 });
    const key = ['--idempotency-key', 'build-12'];
    await on.rungate(...trigger, '--commit-sha', commit, ...key);
    on.mock.deploy(`${new7},old@30s`);
    const { code, out } = await on.rungate(...gate, ...key, '--deployed-url', page());
    expect([code, on.mock.state.runs.size]).toEqual([8, 1]);
    expect(JSON.parse(out).runs).toMatchObject([{ reattached: true, verdict: 'mismatch' }]);
  });
});
