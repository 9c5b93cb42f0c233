import { afterEach, describe, expect, it } from 'vitest';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { inRepository, type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
afterEach(() => on.close());

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

/** A run takes 60 s of the fake clock. The gate creates it 2 s after its first read that shows the expected build. */
const options: MockOptions = { duration: 60_000 };

interface Rollout {
  /** The versions: `new` is the expected build. */
  deployed: string;
  faults?: Fault[];
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
    ['is old all the time', { deployed: 'old' }, never],
    ['becomes new just in time', { deployed: 'old,new@298s' }, passed],
    ['becomes old during the run', { deployed: 'new,old@30s' }, changed],
    ['becomes old after the run', { deployed: 'new,old@66s' }, changed],
    [
      'responds with 500 before the run is created',
      { deployed: 'new', faults: [some({ kind: 'status', status: 500 }, 0, 20)] },
      passed,
    ],
    [
      'responds with 500 after the run',
      { deployed: 'new', faults: [always({ kind: 'status', status: 500 }, 5)] },
      unknown(5),
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
    ['is too large once', { deployed: 'new', faults: [some({ kind: 'huge' }, 0, 3)] }, passed],
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
  ])('%s', async (_what, { deployed, faults, flags = [] }, expected) => {
    on = await stage({ ...options, deployed: deployed.replace(/\bnew\b/g, new7), faults });
    // One row tries the default, five minutes, which is 300 reads.
    const brief = expected === never ? ['--deployed-timeout', '20s'] : [];
    const { code, out } = await on.rungate(...gate, '--deployed-url', page(), ...brief, ...flags);
    const report = JSON.parse(out);
    expect({ verdict: report.runs[0].verdict, code, creates: runs().length }).toEqual(expected);
    const matches = expected === passed ? true : expected === changed ? false : null;
    expect(report.deployed).toMatchObject({ url: page(), pointer: null, expected: commit, matches });
  });

  const digest = `sha256:${'ab'.repeat(32)}`;
  const second = `sha256:${'cd'.repeat(32)}`;
  const subjects = ['--subject', `ghcr.io/acme/shop:1.2@${digest}`, '--subject', `worker@${second}`];
  /** Until the page has shown one of them. */
  const expected = `${commit} or ${digest} or ${second}`;
  it.each<[string, string, string[], { expected: string; code: number }]>([
    ['the digest of the second subject', second, [], { expected: second, code: 0 }],
    ['another digest', digest.replaceAll('ab', 'eb'), [], { expected, code: 8 }],
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

  it('send the headers of the file, which no output contains, and no credential of the service', async () => {
    const faults = [some({ kind: 'reply', text: 'Bearer page-secret-1' }, 0, 1)];
    on = await stage({ ...options, deployed: new7, faults });
    const files = { '/h': 'Authorization: Bearer page-secret-1\r\n\r\nX-Env: staging\n' };
    const flags = ['--deployed-url', `${page()}?key=query-secret`, '--deployed-header-file', '/h'];
    const { code, out, err } = await on.with({ files })(...gate, ...flags);
    expect(code).toBe(0);
    expect(reads()[0]?.headers).toMatchObject({ authorization: 'Bearer page-secret-1', 'x-env': 'staging' });
    expect(reads()[0]?.query).toEqual({ key: 'query-secret' });
    expect(out + err).not.toMatch(/page-secret|query-secret/);
    for (const secret of [on.mock.apiKey, on.mock.token])
      expect(JSON.stringify(reads())).not.toContain(secret);
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
    const argv = gate.filter((word) => word !== '--json');
    const { err, out } = await on.rungate(...argv, '--deployed-url', page());
    expect(err.match(/warning: the deployed build is "old", not the expected one/g)).toHaveLength(1);
    expect(err).toMatch(
      /did not test only the expected build: http\S+ showed "old" during the run .*\(2 failed, 0 blocked\)/,
    );
    expect(out).toMatch(/^run_\w+\tmismatch\tcompleted\t2\t0\t/);
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

describe('nothing is sent', () => {
  const url = '--deployed-url=https://a.example/';
  const header = [url, '--deployed-header-file=/h'];
  const known = ['--commit-sha', commit];
  it.each<[string, string[], number, string, Record<string, string>?]>([
    ['without a known commit', [url], 64, 'the expected build is unknown'],
    ...['pointer=/a', 'is=1', 'timeout=1m', 'header-file=/h'].map(
      (option): [string, string[], number, string] => [
        `with --deployed-${option} and no URL`,
        [`--deployed-${option}`],
        64,
        'has no effect without the URL of the version page',
      ],
    ),
    ['with an empty URL', [...known, '--deployed-url='], 64, '--deployed-url is empty'],
    [
      'with a URL of http',
      [...known, '--deployed-url=http://a.example/v'],
      78,
      'uses http, which is not encrypted',
    ],
    ['with a password', [...known, '--deployed-url=https://a:b@a.example/v'], 78, '--deployed-header-file'],
    ['with a placeholder', [...known, '--deployed-url=https://a.example/$V'], 78, 'placeholder'],
    ['with a wrong pointer', [url, ...known, '--deployed-pointer=version'], 64, 'is not a JSON pointer'],
    ['with an empty text', [url, '--deployed-is= '], 64, '--deployed-is is empty'],
    ['with a timeout of 0', [url, ...known, '--deployed-timeout=0'], 64, 'is not a duration'],
    ['if the header file is missing', [...header, ...known], 78, 'the header file cannot be read'],
    [
      'if it has another line',
      [...header, ...known],
      64,
      'line 2 is not a header',
      { '/h': 'X-A: b\ntop-secret-token\n' },
    ],
    ['if it sets the host', [...header, ...known], 64, 'cannot be set as a header', { '/h': 'Host: b' }],
    ['if it is not ASCII', [...header, ...known], 64, 'must be visible ASCII', { '/h': 'X-A: é' }],
  ])('%s', async (_what, flags, code, text, files = {}) => {
    on = await stage({ deployed: new7 });
    const result = await on.with({ files })(...trigger, '--wait', ...flags);
    expect([result.code, result.err]).toEqual([code, expect.stringContaining(text)]);
    expect(result.err).not.toContain('top-secret-token');
    expect(on.mock.requests).toEqual([]);
  });
});

it('a header file is not sent where a project file of a fork directs', async () => {
  on = await stage({ deployed: new7 });
  const project = inRepository({ deployed: { url: page() } }, { CHANGE_FORK: 'mallory' });
  const forked = on.with({ ...project, files: { ...project.files, '/h': 'X-A: b' } });
  const { code, err } = await forked(...gate, '--deployed-header-file', '/h');
  expect([code, on.mock.requests]).toEqual([78, []]);
  expect(err).toContain('the headers for the version page were not sent: this pipeline may run for a fork');
});
