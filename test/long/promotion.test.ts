import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { artifactText } from '../../src/subject.ts';
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
import { commit, image, trusted } from '../receipt/table.ts';

/** The jobs of a pipeline, each with its scripts in order. The job that gates may also build. */
interface Jobs {
  build: Script[];
  gate: Script[];
  promote: Script[];
}

const snippetsOfPage = snippets('docs/how-to/proof.md').filter(({ language }) =>
  /^(yaml|groovy)$/.test(language),
);
const found = snippetsOfPage.filter(({ name }) => name.startsWith('Set it up / '));
const textOf = (name: string) => found.find((one) => one.name === name)?.text ?? '';
const tested = artifactText(image);
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
    expect(uploaded).toEqual({ name: downloaded.name, path: 'image.txt\ntested.json\n' });
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
    return { build: [], gate: scripts(gate.steps), promote: scripts(promote.steps) };
  },
  'Set it up / GitLab CI'(text, values, sha) {
    const { stages, build, gate, promote } = yaml(text);
    expect([build.stage, gate.stage, promote.stage]).toEqual(stages);
    expect([build.artifacts, gate.needs]).toEqual([{ paths: ['image.txt'] }, ['build']]);
    expect([promote.needs, promote.when, gate.artifacts]).toEqual([
      ['build', 'gate'],
      'manual',
      { paths: ['tested.json'] },
    ]);
    const { RUNGATE_RECEIPT_KEY, ...variables } = values;
    const env = { GITLAB_CI: 'true', CI_PROJECT_PATH: 'acme/shop', CI_COMMIT_SHA: sha, ...variables };
    const scripts = (job: Yaml): Script[] => [{ script: job.script.join('\n'), shell: bashPipefail, env }];
    return { build: scripts(build), gate: scripts(gate), promote: scripts(promote) };
  },
  'Set it up / Jenkins'(text, values, sha) {
    const once = settingsOf(text);
    const unstashed = (stage: string) =>
      [...(text.split(`stage('${stage}')`)[1] ?? '').matchAll(/\bunstash '(\w+)'/g)].map(([, name]) => name);
    const [built, receipt] = [/'image\.txt'/, /'tested\.json'/].map(({ source }) =>
      once(new RegExp(`stash name: '(\\w+)', includes: ${source}`)),
    );
    expect(unstashed('gate')[0]).toBe(built);
    expect(unstashed('promote')).toEqual([built, receipt]);
    once(/input (\{)/);
    for (const name of ['RUNGATE_API_KEY', 'RUNGATE_RECEIPT_KEY_FILE'])
      once(new RegExp(`${name} = credentials\\('([^']+)'\\)`));
    const { RUNGATE_RECEIPT_KEY, ...variables } = values;
    const env = {
      JENKINS_URL: 'https://ci.example.test/',
      JOB_NAME: 'shop',
      BUILD_NUMBER: '7',
      GIT_COMMIT: sha,
      GIT_URL: 'https://git.example.test/acme/shop.git',
      ...variables,
    };
    const [build = [], gate = [], promote = []] = text
      .split(/stage\('(?:gate|promote)'\)/)
      .map((stage) =>
        [...stage.matchAll(/\bsh '([^']+)'/g)].map(([, script = '']): Script => ({ script, shell: sh, env })),
      );
    return { build, gate, promote };
  },
};

it('every pipeline of the page is run here', () => {
  expect(found.map(({ name }) => name)).toEqual(Object.keys(readers));
});

it('the pipelines pin every action by a commit that our workflows use', () => {
  const used = snippetsOfPage.flatMap(({ text }) =>
    [...text.matchAll(/\buses: (.*)/g)].map(([, action]) => action),
  );
  const own = read('.github/workflows/ci.yml') + read('.github/workflows/release.yml');
  expect(used.filter((action) => !own.includes(`uses: ${action}`))).toEqual([]);
});

function writeScript(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

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

  /** Builds, gates, and promotes `promoted` in another folder that has only the artifacts and the repository. */
  async function pipeline(options: MockOptions, promoted = tested) {
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
      writeScript(build, 'build.sh', `echo pushed >&2\necho ${tested}`);
      for (const folder of folders) writeScript(folder, 'deploy.sh', 'echo "$@" > deployed');
      const deployedIn = (folder: string) =>
        existsSync(join(folder, 'deployed')) ? readFileSync(join(folder, 'deployed'), 'utf8').trim() : null;
      const jobs = readers[name]?.(textOf(name), values, commit) ?? { build: [], gate: [], promote: [] };
      const gate = await play([...jobs.build, ...jobs.gate], build, mock);
      expect(deployedIn(build), gate.output).toBe(`staging ${tested}`);
      expect(existsSync(join(build, 'tested.json')), gate.output).toBe(true);
      copyFileSync(join(build, 'tested.json'), join(release, 'tested.json'));
      writeFileSync(join(release, 'image.txt'), `${promoted}\n`);
      writeFileSync(join(release, 'ci-receipts.pub'), trusted.publicPem);
      await mock.close();
      const promote = await play(jobs.promote, release, mock);
      return { gate, promote, deployed: deployedIn(release) };
    } finally {
      await mock.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    }
  }

  it('promotes the image that passed, without the service', async () => {
    const { gate, promote, deployed } = await pipeline({
      outcome: 'passed',
      deployed: `sha256:${image.digest.sha256}`,
    });
    expect(gate.code, gate.output).toBe(0);
    expect(promote.code, promote.output).toBe(0);
    expect(deployed).toBe(`production ${tested}`);
  });

  it('does not promote another image', async () => {
    const other = `${image.name}@sha256:${'d'.repeat(64)}`;
    const { gate, promote, deployed } = await pipeline({ outcome: 'passed' }, other);
    expect([gate.code, promote.code, deployed]).toEqual([0, 1, null]);
    expect(promote.output).toContain(`it is for "${tested}", not "${other}"`);
  });

  it('does not promote after a failed run, even if someone starts the job', async () => {
    const { gate, promote, deployed } = await pipeline({ outcome: 'failed' });
    expect([gate.code, promote.code, deployed]).toEqual([1, 1, null]);
    expect(promote.output).toContain('its result is FAILED');
  });
});
