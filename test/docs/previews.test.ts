import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { argvOf } from '../../src/action/inputs.ts';
import type { MockOptions } from '../../src/mock/server.ts';
import { asked, type Stage, stage } from '../cli/harness.ts';
import { withLimits } from '../fake-clock.ts';
import { read, snippets, type Yaml, yaml } from './ci-job.ts';
import { commandIn } from './command-in.ts';

const blocks = snippets('docs/how-to/previews.md').filter(({ language }) => language === 'yaml');
const under = (heading: string): Yaml => yaml(blocks.find(({ name }) => name === heading)?.text ?? '');
const inputs = Object.keys(yaml(read('action.yml')).inputs);

const deployed = JSON.parse(
  readFileSync(new URL('../../fixtures/deployments/success.json', import.meta.url), 'utf8'),
);
const sha = deployed.deployment.sha;

/** Returns the payload of a successful deployment with this URL, as far as the workflow reads it. */
const payloads: Record<string, (url: string | undefined) => Yaml> = {
  'GitHub and Vercel': (url) => ({
    ...deployed,
    deployment_status: { ...deployed.deployment_status, environment_url: url },
  }),
  'GitHub and Netlify': (url) => ({
    state: 'success',
    context: 'netlify/my-site/deploy-preview',
    sha,
    target_url: url,
    branches: [{ name: 'cart' }],
  }),
};

/** Returns the inputs as the runner does; an expression here is a path in the event, perhaps with a text for a missing value. */
function inputsOf(given: Record<string, string>, event: Yaml): Record<string, string> {
  const value = (text: string) =>
    text.replace(
      /^\$\{\{ github\.event\.(\S+)(?: \|\| '(.*)')? \}\}$/,
      (_, path, other = '') =>
        path.split(/[.[\]]+/).reduce((part: Yaml, name: string) => part?.[name], event) || other,
    );
  return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, value(text)]));
}

async function closedStage(options: MockOptions = {}): Promise<Stage> {
  const on = await stage(options);
  onTestFinished(() => on.close());
  return on;
}

describe.each(Object.keys(payloads))('the workflow of "%s"', (heading) => {
  const shown = under(heading);
  const job = shown.jobs['e2e-preview'];
  const [step] = job.steps;

  /** Runs the workflow's gate for a deployment. */
  async function gate(on: Stage, url: string | undefined) {
    const event = payloads[heading]?.(url);
    const read = inputsOf(step.with, event);
    const env = {
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: shown.on,
      GITHUB_EVENT_PATH: '/event.json',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_SHA: shown.on === 'deployment_status' ? sha : '0'.repeat(40),
    };
    const run = on.with({
      clock: withLimits(on.clock),
      env,
      files: { '/event.json': JSON.stringify(event) },
    });
    return run(...argvOf((name) => (/^api-|^token$/.test(name) ? '' : (read[name] ?? ''))));
  }

  it('tests the deployment of the event, and deletes its environment', async () => {
    const on = await closedStage({ deployed: '3c1d9a7', duration: 100 });
    const { code, err } = await gate(on, `${on.mock.url}/_mock/version`);
    expect(code, err).toBe(0);
    expect(err).toMatch(/^created environment rg-[0-9a-f]{12} \(http.*\/_mock\/version\)$/m);
    expect(err).toMatch(/^deleted environment rg-/m);
    const body = on.mock.requests.find(({ endpoint }) => endpoint === 'run.trigger')?.body;
    expect(JSON.stringify(body)).toContain(sha);
    expect(asked(on.mock)).toContain('env.delete');
  });

  it('gives the action only inputs that it has, and checks nothing out', () => {
    expect(Object.keys(step.with).filter((name) => !inputs.includes(name))).toEqual([]);
    expect(Object.keys(step.with)).toEqual(
      expect.arrayContaining(['api-url', 'api-key', 'token', 'base-url']),
    );
    expect(JSON.stringify(job)).not.toContain('checkout@');
  });

  it('puts no value of the event into a script, which would run it', () => {
    const scripts = job.steps.flatMap(({ run }: Yaml) => run ?? []);
    expect(scripts.join()).not.toContain('$' + '{{');
  });
});

it('Netlify: the commit gets the result of a job that GitHub shows elsewhere', () => {
  const { steps } = under('GitHub and Netlify').jobs['e2e-preview'];
  expect(steps.at(-1)).toMatchObject({
    if: 'always()',
    run: expect.stringContaining('-f context=e2e-preview '),
  });
});

it('several gates: the job checks out the default branch, since it has the token', () => {
  const [{ uses, with: given }] = under('Several gates').steps;
  expect(uses).toMatch(/^actions\/checkout@[0-9a-f]{40}$/);
  expect(given).toEqual({
    ref: '$' + '{{ github.event.repository.default_branch }}',
    'persist-credentials': false,
  });
});

describe('the job of "GitLab review apps"', () => {
  const job = under('GitLab review apps')['e2e-preview'];
  const words = (url: string) =>
    (commandIn(job) ?? '')
      .split(' ')
      .slice(4)
      .map((word) => (word === '"$CI_ENVIRONMENT_URL"' ? url : word));

  it('tests the URL of its environment', async () => {
    const on = await closedStage({ deployed: '3c1d9a7', duration: 100 });
    const url = `${on.mock.url}/_mock/version`;
    const run = on.with({ clock: withLimits(on.clock), env: { GITLAB_CI: 'true' }, files: {} });
    const { code, err } = await run(...words(url));
    expect(code, err).toBe(0);
    expect(err).toContain(`(${url})`);
    // GitLab sets the variable only then.
    expect(job.environment.url).toBeDefined();
  });

  it('sends nothing without the URL', async () => {
    const on = await closedStage();
    expect((await on.with({ files: {} })(...words(''))).code).toBe(64);
    expect(on.mock.requests).toEqual([]);
  });
});
