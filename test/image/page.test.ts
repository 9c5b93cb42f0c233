import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Env, read, settingsOf, snippets, type Yaml, yaml } from '../docs/ci-job.ts';
import { start } from '../e2e/process.ts';
import { freePort } from '../free-port.ts';
import { startRedis } from '../hub/redis.ts';
import { until } from '../until.ts';
import { config, container, type Settings, service, terminalContainer, workspace } from './container.ts';

const section = /^Container image(?: \/ )?/;
const found = snippets('docs/how-to/without-node.md')
  .filter(({ name, language }) => section.test(name) && language !== 'text')
  .map((snippet) => ({ ...snippet, name: snippet.name.replace(section, '') }));
const textOf = (name: string, nth = 0) => {
  const text = found.filter((snippet) => snippet.name === name)[nth]?.text;
  if (text === undefined) throw new Error(`no snippet: ${name}`);
  return text;
};

/** Creates a repository that any user may write to. */
async function repository(): Promise<string> {
  const file = '{ "project": "shop", "process": "checkout" }';
  const folder = workspace(0, { '.rungate.json': file });
  chmodSync(folder, 0o777);
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.test'];
  for (const args of [['init'], [...identity, 'commit', '--allow-empty', '--message', 'a']])
    expect(await start('git', [...args, '--quiet'], {}, folder).ended).toMatchObject({ code: 0 });
  return folder;
}

/** Runs a script with a `docker` that only records its arguments and variables, and returns what they mean. */
async function dockerRun(script: string, secrets: Env, folder: string): Promise<Settings> {
  const record = join(folder, '.git/docker');
  const shim = `#!/bin/sh\nprintf '%s\\0' "$@" > '${record}.args'\nenv -0 > '${record}.env'\n`;
  mkdirSync(join(folder, '.git/bin'));
  writeFileSync(join(folder, '.git/bin/docker'), shim, { mode: 0o755 });
  const PATH = `${join(folder, '.git/bin')}:${process.env.PATH}`;
  const ended = await start('bash', ['-euc', script], { ...secrets, PATH }, folder).ended;
  expect(ended).toMatchObject({ code: 0, err: '' });
  const parts = (kind: string) => readFileSync(`${record}.${kind}`, 'utf8').split('\0').slice(0, -1);
  const [command, ...args] = parts('args');
  const at = args.findIndex((argument) => argument.startsWith('ghcr.io/'));
  expect(command).toBe('run');
  const { values } = parseArgs({
    args: args.slice(0, at),
    options: {
      rm: { type: 'boolean' },
      'read-only': { type: 'boolean' },
      user: { type: 'string' },
      env: { type: 'string', short: 'e', multiple: true },
      volume: { type: 'string', short: 'v', multiple: true },
    },
  });
  const variables = Object.fromEntries(
    parts('env').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
  );
  return {
    args: args.slice(at + 1),
    env: Object.fromEntries((values.env ?? []).map((name) => [name, String(variables[name])])),
    mounts: (values.volume ?? []).map((volume) => {
      const [source = '', target = '', mode] = volume.split(':');
      return { source, target, readOnly: mode === 'ro' };
    }),
    readOnly: values['read-only'] ?? false,
    ...(values.user === undefined ? {} : { user: values.user }),
  };
}

/** Translates a container of a pod. A field that has no translation fails the test. */
function podContainer(spec: Yaml, secrets: Env): Settings {
  const { name: _, image: _image, command, args, envFrom, securityContext, ...others } = spec;
  expect(others).toEqual({});
  expect(envFrom).toEqual([{ secretRef: { name: expect.stringMatching(/^rungate/) } }]);
  const { seccompProfile: _profile, ...restrictions } = securityContext;
  expect(restrictions).toEqual({
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  });
  // The kubelet cannot check a name for runAsNonRoot.
  expect(config.User).toMatch(/^[1-9]\d*:/);
  return { ...(command && { entrypoint: command }), args, env: secrets, readOnly: true };
}

/** Translates the specification of a Job, whose pod is not started again after a failure. */
function jobPod({ backoffLimit, activeDeadlineSeconds, template }: Yaml, secrets: Env): Settings {
  expect({ backoffLimit, activeDeadlineSeconds }).toEqual({
    backoffLimit: 0,
    activeDeadlineSeconds: 75 * 60,
  });
  expect(template.spec).toMatchObject({ restartPolicy: 'Never', containers: { length: 1 } });
  return podContainer(template.spec.containers[0], secrets);
}

const gates: Record<string, (secrets: Env, folder: string) => Settings | Promise<Settings>> = {
  'the first line': (secrets, folder) =>
    dockerRun(
      textOf('')
        .replace('https://service.example.com', String(secrets.RUNGATE_API_URL))
        .replace('your-api-key', String(secrets.RUNGATE_API_KEY)),
      {},
      folder,
    ),
  'a read-only workspace': (secrets, folder) => dockerRun(textOf('The workspace'), secrets, folder),
  'a writable workspace': (secrets, folder) => dockerRun(textOf('The workspace', 1), secrets, folder),
  'GitLab CI': (secrets, folder) => {
    const { e2e } = yaml(textOf('GitLab CI'));
    expect(e2e.image.entrypoint).toEqual(['']);
    expect(e2e.timeout).toBe('75 minutes');
    const job = { GITLAB_CI: 'true', CI_PROJECT_PATH: 'acme/shop', CI_PIPELINE_ID: '900', CI_JOB_ID: '1' };
    return {
      entrypoint: ['bash', '-eo', 'pipefail', '-c'],
      args: [e2e.script.join('\n')],
      env: { ...secrets, ...job },
      workdir: '/builds/acme/shop',
      mounts: [{ source: folder, target: '/builds/acme/shop' }],
    };
  },
  'Kubernetes Job': (secrets) => jobPod(yaml(textOf('Kubernetes Job')).spec, secrets),
  Tekton: (secrets) => {
    const { spec } = yaml(
      textOf('Tekton').replaceAll(/\$\(params\.(\w+)\)/g, (_, name) =>
        name === 'commit' ? 'c'.repeat(40) : `a-${name}`,
      ),
    );
    const [{ timeout, ...step }] = spec.steps;
    expect(timeout).toBe('75m');
    return podContainer(step, secrets);
  },
  'Argo Rollouts': (secrets) => {
    const { spec } = yaml(textOf('Argo Rollouts').replaceAll('{{args.commit}}', 'c'.repeat(40)));
    return jobPod(spec.metrics[0].provider.job.spec, secrets);
  },
};

describe.each(Object.entries(gates))('the snippet: %s', (_name, settingsFor) => {
  it.each([
    ['passed', 0],
    ['failed', 1],
  ] as const)('of a run that %s exits with %i', async (outcome, code) => {
    const { env: secrets, mock } = await service({ outcome });
    const folder = await repository();
    const ended = await container(await settingsFor(secrets, folder)).ended;
    expect(ended).toMatchObject({ code, err: expect.not.stringContaining('warning') });
    expect(mock.state.runs.size).toBe(1);
  });

  it('cancels its run on SIGTERM', async () => {
    const { env: secrets, mock } = await service({ outcome: 'stuck' });
    const running = container(await settingsFor(secrets, await repository()));
    await running.shows(/in_progress/);
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 143 });
    expect([...mock.state.runs.values()].map(({ cancelled }) => cancelled !== undefined)).toEqual([true]);
  });
});

describe('the Jenkinsfile', () => {
  const once = settingsOf(textOf('Jenkins'));
  const script = once(/\bsh '([^']+)'/);
  const cookie = 'JENKINS_SERVER_COOKIE=durable-1';

  /** Starts the container as Jenkins does, with the user id of its agent, and the step in it. */
  async function step(secrets: Env) {
    expect(once(/args '([^']*)'/)).toBe('--entrypoint=');
    const folder = await repository();
    const agent = terminalContainer({
      entrypoint: [],
      args: ['cat'],
      user: '1000:1000',
      workdir: folder,
      mounts: [{ source: folder, target: folder }],
    });
    const ready = () => agent.exec(['true']).ended;
    await until(async () => (await ready()).code === 0);
    const job = { JENKINS_URL: 'https://ci.example.test/', JOB_NAME: 'shop', BUILD_NUMBER: '7' };
    const variables = Object.entries({ ...secrets, ...job }).map(([name, value]) => `${name}=${value}`);
    const running = agent.exec(['env', ...variables, cookie, 'sh', '-xec', script]);
    return { agent, folder, running };
  }

  it('fails with the gate and leaves its report', async () => {
    const { env: secrets } = await service({ outcome: 'failed' });
    const { running, folder } = await step(secrets);
    expect(await running.ended).toMatchObject({ code: 1 });
    const report = readFileSync(join(folder, once(/junit testResults: '([^']+)'/)), 'utf8');
    expect(report).toContain('<testsuites');
  });

  it('cancels its run when Jenkins stops the processes that ps lists with its cookie', async () => {
    const { env: secrets, mock } = await service({ outcome: 'stuck' });
    const { agent, running } = await step(secrets);
    await running.shows(/in_progress/);
    const { out } = await agent.exec(['ps', '-A', '-o', 'pid,command', 'e']).ended;
    const pids = out
      .split('\n')
      .flatMap((line) => (line.includes(cookie) ? [line.trim().split(' ', 1)[0] ?? ''] : []));
    expect(pids).toHaveLength(1);
    expect(await agent.exec(['kill', ...pids]).ended).toMatchObject({ code: 0 });
    expect(await running.ended).toMatchObject({ code: 143 });
    expect([...mock.state.runs.values()].map(({ cancelled }) => cancelled !== undefined)).toEqual([true]);
  });
});

describe('the hub', () => {
  const secrets = { RUNGATE_HUB_TOKEN: 'hub-token-Zk3J9aQ7Lm2X', RUNGATE_WEBHOOK_SECRET: 'whsec_of_the_hub' };

  /** Reads a file of docs/hub with another port and another Redis server. */
  async function placed(name: string) {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const port = await freePort();
    const text = read(`docs/hub/${name}`).replaceAll('4020', String(port));
    const [document] = text.replaceAll('redis://redis:6379', redis.url).split(/^---$/m).map(yaml);
    const probe = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    return { redis, port, document, probe, ownPort: ['--port', String(port)] };
  }

  it('of compose.yaml lives and is ready, and its check fails after it has stopped', async () => {
    const { document, probe, ownPort } = await placed('compose.yaml');
    const { command, environment, read_only, healthcheck, cap_drop } = document.services['hub-1'];
    expect(cap_drop).toEqual(['ALL']);
    const folder = workspace(65532, {
      'hub-token': secrets.RUNGATE_HUB_TOKEN,
      'webhook-secret': secrets.RUNGATE_WEBHOOK_SECRET,
    });
    const mounts = [{ source: folder, target: '/run/secrets', readOnly: true }];
    const hub = container({ args: [...command, ...ownPort], env: environment, readOnly: read_only, mounts });
    await hub.shows(/listening/);
    await until(async () => (await probe('/readyz')) === 200);
    const [kind, ...health] = healthcheck.test;
    expect(kind).toBe('CMD');
    expect(await hub.exec(health).ended).toMatchObject({ code: 0 });
    hub.child.kill('SIGTERM');
    expect(await hub.ended).toMatchObject({ code: 143 });
    expect(await container({ entrypoint: health }).ended).toMatchObject({ code: 1 });
  });
});

it('every snippet with the image is one of those above', () => {
  const names = found.filter(({ text }) => text.includes('ghcr.io/')).map(({ name }) => name);
  const tested = ['', 'The workspace', 'The workspace', 'GitLab CI', 'Jenkins', 'Kubernetes Job', 'Tekton'];
  expect(names).toEqual([...tested, 'Argo Rollouts']);
});
