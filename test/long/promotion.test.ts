import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import {
  type Env,
  read,
  run,
  type Script,
  settingsOf,
  snippets,
  workspace,
  type Yaml,
  yaml,
} from '../docs/ci-job.ts';
import { commit, trusted } from '../receipt/table.ts';

/** The two jobs of a pipeline, each with its scripts in order. */
interface Jobs {
  gate: Script[];
  promote: Script[];
}

const found = snippets('docs/proof.md').filter(({ language }) => /^(yaml|groovy)$/.test(language));
const textOf = (name: string) => found.find((one) => one.name === name)?.text ?? '';
const page = 'https://staging.shop.example.com/version';
const bash = (file: string) => ['bash', '-e', file];
const bashPipefail = (file: string) => ['bash', '-eo', 'pipefail', file];
const sh = (file: string) => ['sh', '-xe', file];

/** Reads the two jobs. `values` are the secrets and variables of the CI. */
const readers: Record<string, (text: string, values: Env, sha: string) => Jobs> = {
  'Set it up / GitHub Actions'(text, values, sha) {
    const { gate, promote } = yaml(text).jobs;
    expect([promote.needs, promote.environment]).toEqual(['gate', 'production']);
    const [uploaded, downloaded] = [gate, promote].map(
      ({ steps }: Yaml) => steps.find((one: Yaml) => /load-artifact/.test(one.uses)).with,
    );
    expect(uploaded).toEqual({ name: downloaded.name, path: 'tested.json' });
    const fixed = {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_SHA: sha,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_EVENT_NAME: 'push',
    };
    const filled = (env: Env = {}) =>
      Object.entries(env).map(([name, value]) => [
        name,
        values[/^\$\{\{ \w+\.(\w+) \}\}$/.exec(value)?.[1] ?? ''],
      ]);
    const scripts = (steps: Yaml[]): Script[] =>
      steps
        .filter((step) => step.run !== undefined)
        .map((step) => ({
          script: step.run,
          shell: bash,
          env: { ...fixed, ...Object.fromEntries(filled(step.env)) },
        }));
    return { gate: scripts(gate.steps), promote: scripts(promote.steps) };
  },
  'Set it up / GitLab CI'(text, values, sha) {
    const { stages, gate, promote } = yaml(text);
    expect([stages, gate.stage, promote.stage]).toEqual([['gate', 'promote'], 'gate', 'promote']);
    expect([promote.needs, promote.when, gate.artifacts]).toEqual([
      ['gate'],
      'manual',
      { paths: ['tested.json'] },
    ]);
    const { RUNGATE_RECEIPT_KEY, ...variables } = values;
    const env = { GITLAB_CI: 'true', CI_PROJECT_PATH: 'acme/shop', CI_COMMIT_SHA: sha, ...variables };
    const scripts = (job: Yaml): Script[] => [{ script: job.script.join('\n'), shell: bashPipefail, env }];
    return { gate: scripts(gate), promote: scripts(promote) };
  },
  'Set it up / Jenkins'(text, values, sha) {
    const once = settingsOf(text);
    expect(once(/stash name: '(\w+)', includes: 'tested\.json'/)).toBe(once(/unstash '(\w+)'/));
    once(/input (\{)/);
    for (const name of ['RUNGATE_API_KEY', 'RUNGATE_RECEIPT_KEY_FILE'])
      once(new RegExp(`${name} = credentials\\('([^']+)'\\)`));
    const { RUNGATE_RECEIPT_KEY, ...variables } = values;
    const env = {
      JENKINS_URL: 'https://ci.example.test/',
      JOB_NAME: 'shop',
      BUILD_NUMBER: '7',
      GIT_COMMIT: sha,
      ...variables,
    };
    const [gate, promote] = text
      .split("stage('promote')")
      .map((stage) =>
        [...stage.matchAll(/\bsh '([^']+)'/g)].map(([, script = '']): Script => ({ script, shell: sh, env })),
      );
    return { gate: gate ?? [], promote: promote ?? [] };
  },
};

it('every pipeline of the page is run here, except the keyless one', () => {
  expect(found.map(({ name }) => name)).toEqual([
    ...Object.keys(readers),
    'Keyless signing on GitHub',
    'Keyless signing on GitHub',
  ]);
});

it('the pipelines pin every action by a commit that our workflows use', () => {
  const used = found.flatMap(({ text }) => [...text.matchAll(/\buses: (.*)/g)].map(([, action]) => action));
  const own = read('.github/workflows/ci.yml') + read('.github/workflows/release.yml');
  expect(used.filter((action) => !own.includes(`uses: ${action}`))).toEqual([]);
});

describe.concurrent.each(Object.keys(readers))('%s', (name) => {
  /** Runs scripts in order, up to the first one that fails. Returns its exit code and the output. */
  async function play(scripts: readonly Script[], folder: string, mock: MockServer) {
    let [code, output]: [number | null, string] = [0, ''];
    for (const step of scripts) {
      const script = step.script?.replace(page, `${mock.url}/_mock/version`) ?? null;
      const ended = await run({ ...step, script }, folder).ended;
      [code, output] = [ended.code, output + ended.out + ended.err];
      if (code !== 0) break;
    }
    return { code, output };
  }

  /** Runs the gate for `commit`, then the promotion of `promoted` in another folder that has only the artifact and the repository. */
  async function pipeline(options: MockOptions, promoted = commit) {
    const mock = await startMock({ duration: 100, retryAfterSeconds: 0.1, deployed: commit, ...options });
    const folders = [workspace(), workspace()] as const;
    try {
      const [build, release] = folders;
      const keyFile = join(build, 'secret.key');
      writeFileSync(keyFile, trusted.privatePem, { mode: 0o600 });
      const values = {
        RUNGATE_API_URL: mock.url,
        RUNGATE_API_KEY: mock.apiKey,
        RUNGATE_RECEIPT_KEY: trusted.privatePem,
        RUNGATE_RECEIPT_KEY_FILE: keyFile,
      };
      const jobs = (sha: string) => readers[name]?.(textOf(name), values, sha) ?? { gate: [], promote: [] };
      const gate = await play(jobs(commit).gate, build, mock);
      expect(existsSync(join(build, 'tested.json')), gate.output).toBe(true);
      copyFileSync(join(build, 'tested.json'), join(release, 'tested.json'));
      writeFileSync(join(release, 'ci-receipts.pub'), trusted.publicPem);
      writeFileSync(join(release, 'deploy.sh'), '#!/bin/sh\necho "$1" > deployed\n');
      chmodSync(join(release, 'deploy.sh'), 0o755);
      await mock.close();
      const promote = await play(jobs(promoted).promote, release, mock);
      const deployed = existsSync(join(release, 'deployed'))
        ? readFileSync(join(release, 'deployed'), 'utf8').trim()
        : null;
      return { gate, promote, deployed };
    } finally {
      await mock.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    }
  }

  it('promotes the commit that passed, without the service', async () => {
    const { gate, promote, deployed } = await pipeline({ outcome: 'passed' });
    expect(gate.code, gate.output).toBe(0);
    expect(promote.code, promote.output).toBe(0);
    expect(deployed).toBe('production');
  });

  it('does not promote another commit', async () => {
    const { gate, promote, deployed } = await pipeline({ outcome: 'passed' }, 'd'.repeat(40));
    expect([gate.code, promote.code, deployed]).toEqual([0, 1, null]);
    expect(promote.output).toContain(`it is for commit ${commit}`);
  });

  it('does not promote after a failed run, even if someone starts the job', async () => {
    const { gate, promote, deployed } = await pipeline({ outcome: 'failed' });
    expect([gate.code, promote.code, deployed]).toEqual([1, 1, null]);
    expect(promote.output).toContain('its result is FAILED');
  });
});

const hasJq = (() => {
  try {
    execFileSync('jq', ['--version']);
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasJq)('the keyless pipeline', () => {
  let mock: MockServer;
  let folder: string;
  beforeEach(async () => {
    mock = await startMock({
      duration: 100,
      retryAfterSeconds: 0.1,
      deployed: commit,
      outcome: ['passed', 'failed'],
    });
    folder = workspace();
  });
  afterEach(async () => {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('hands over the predicate of the statement, and checks its facts', async () => {
    const [gateText = '', checkText = ''] = found
      .filter(({ name }) => name.startsWith('Keyless'))
      .map(({ text }) => text);
    const { steps } = yaml(gateText).jobs.gate;
    const env = {
      GITHUB_ACTIONS: 'true',
      GITHUB_SHA: commit,
      RUNGATE_API_URL: mock.url,
      RUNGATE_API_KEY: mock.apiKey,
    };
    const attest = steps.find((step: Yaml) => String(step.uses).startsWith('actions/attest@')).with;
    const check = yaml(checkText)[0].run;
    const jq = check.slice(check.indexOf('jq '));
    const script = (text: string, more: Env = {}) =>
      run({ script: text, shell: bash, env: { ...env, ...more } }, folder).ended;
    const gate = () => script(steps[0].run.replace(page, `${mock.url}/_mock/version`));

    expect((await gate()).code).toBe(0);
    expect((await script(steps[1].run)).code).toBe(0);
    const json = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const statement = json(attest['subject-path']);
    expect(json(attest['predicate-path'])).toEqual(statement.predicate);
    expect(attest['predicate-type']).toBe(statement.predicateType);
    expect(check).toContain(`--predicate-type ${statement.predicateType}`);
    expect((await script(jq)).code).toBe(0);
    expect((await script(jq, { GITHUB_SHA: 'd'.repeat(40) })).code).toBe(1);

    expect((await gate()).code).toBe(1);
    expect((await script(jq)).code).toBe(1);
  });
});
