import { readFileSync } from 'node:fs';
import { parseYaml } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { likelyHost, previewHosts, previewPipelines } from '../../src/ci/preview-pipelines.ts';
import { asked, stage } from '../cli/harness.ts';
import { planned } from './planned.ts';

// biome-ignore lint/suspicious/noExplicitAny: a payload or a workflow, read key by key.
type Json = any;

const plan = { ...planned, checkout: true };
const jobOf = (host: (typeof previewHosts)[number]) =>
  (parseYaml(previewPipelines[host].text(plan)) as Json).jobs['e2e-preview'];
const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/deployments/${name}.json`, import.meta.url), 'utf8');

/** The payload of the `status` event, as far as the workflow reads it. */
const netlifyStatus = (url: string) => ({
  state: 'success',
  context: 'netlify/shop/deploy-preview',
  sha: '4f9c2d0e7b8a1365c0d4e2f1a9b8c7d6e5f40312',
  target_url: url,
  branches: [{ name: 'cart' }],
});

/** Returns the environment of a step; the expressions are paths in the event. */
function envOf(step: Json, event: Json, more: Json = {}): Record<string, string> {
  const value = (text: string) =>
    text.replace(/^\$\{\{ github\.event\.(\S+) \}\}$/, (_, path: string) =>
      path.split(/[.[\]]+/).reduce((part, name) => part?.[name], event),
    );
  const own = Object.entries<string>({ ...more, ...step.env }).filter(
    ([name]) => !name.startsWith('RUNGATE_'),
  );
  return Object.fromEntries(own.map(([name, text]) => [name, value(text)]));
}

describe('the host of the previews', () => {
  it.each<[string, string[], string | null]>([
    ['Vercel by its file', ['vercel.json'], 'vercel'],
    ['Vercel by its folder', ['.vercel'], 'vercel'],
    ['Netlify by its file', ['netlify.toml', 'package.json'], 'netlify'],
    ['Netlify by its folder', ['.netlify'], 'netlify'],
    ['neither if there are files of both', ['vercel.json', 'netlify.toml'], null],
    ['neither without such a file', ['package.json'], null],
  ])('is %s', (_what, files, host) => expect(likelyHost((name) => files.includes(name))).toBe(host));
});

describe.each(previewHosts)('the workflow for %s', (host) => {
  const text = previewPipelines[host].text(plan);

  it('runs nothing of the deployed commit, and installs nothing', () => {
    const { steps } = jobOf(host);
    const { uses, with: given } = steps[0];
    expect(uses).toMatch(/^actions\/checkout@[0-9a-f]{40}$/);
    expect(given['persist-credentials']).toBe(false);
    // For `status`, the checkout is the default branch.
    expect(given.ref).toBe(
      host === 'netlify' ? undefined : '$' + '{{ github.event.repository.default_branch }}',
    );
    const runs = steps.flatMap(({ run }: Json) => run ?? []);
    expect(runs[0]).toMatch(/^exec npx --yes rungate@[\d.]+ gate /);
    expect(runs.slice(1).every((run: string) => run.startsWith('gh api '))).toBe(true);
    // A value of the event in a command would be code.
    expect(runs.join()).not.toContain('$' + '{{');
  });

  it('takes the address of the service from a variable, even if the project file has one', () => {
    const inFile = previewPipelines[host].text({ ...plan, addressInFile: true });
    expect(inFile).toContain('RUNGATE_API_URL: $' + '{{ vars.RUNGATE_API_URL }}');
    expect(text).toContain('RUNGATE_TOKEN: $' + '{{ secrets.RUNGATE_TOKEN }}');
  });

  it('has another name in each package', () => {
    expect(previewPipelines[host].text({ ...plan, folder: 'apps/web' })).toMatch(
      /^ {2}e2e-apps-web-preview:$/m,
    );
  });

  it('tests the deployment of the event', async () => {
    const on = await stage({ deployed: '3c1d9a7', duration: 100 });
    try {
      const page = `${on.mock.url}/_mock/version`;
      const payload = fixture('success').replaceAll(/https:\/\/shop-4f9c2d0e-acme\.preview\.example/g, page);
      const event = host === 'vercel' ? JSON.parse(payload) : netlifyStatus(page);
      const job = jobOf(host);
      const step = job.steps.find(({ run }: Json) => run?.startsWith('exec '));
      const env = envOf(step, event, job.env);
      const command = step.run.replaceAll(/"\$([A-Z]+)"/g, (_: string, name: string) => env[name] ?? '');
      const run = on.with({
        env: {
          GITHUB_ACTIONS: 'true',
          GITHUB_EVENT_NAME: host === 'vercel' ? 'deployment_status' : 'status',
          GITHUB_EVENT_PATH: '/event.json',
          GITHUB_REPOSITORY: 'acme/shop',
          GITHUB_SHA: host === 'vercel' ? event.deployment.sha : '0'.repeat(40),
        },
        cwd: '/repo',
        files: { '/repo/.git': '', '/event.json': JSON.stringify(event) },
      });
      const { code, err } = await run(...command.split(' ').slice(4));
      expect(code, err).toBe(0);
      expect(err).toMatch(/^created environment rg-[0-9a-f]{12} \(http.*\/_mock\/version\)$/m);
      expect(err).toMatch(/^deleted environment rg-/m);
      const body = on.mock.requests.find(({ endpoint }) => endpoint === 'run.trigger')?.body;
      expect(JSON.stringify(body)).toContain(event.deployment?.sha ?? event.sha);
      expect(asked(on.mock)).toContain('env.delete');
    } finally {
      await on.close();
    }
  });
});

it('Vercel deploys the fixture as its workflow expects', () => {
  const condition: string = jobOf('vercel').if;
  const { deployment, deployment_status } = JSON.parse(fixture('success'));
  expect(condition).toContain(`deployment_status.state == '${deployment_status.state}'`);
  expect(condition).toContain(`deployment.creator.login == '${deployment.creator.login}'`);
  expect(deployment.environment).toMatch(/^Preview/);
});

it('the commit gets the result of a job that GitHub shows elsewhere', () => {
  const { steps } = jobOf('netlify');
  expect(steps.at(-1)).toMatchObject({
    if: 'always()',
    run: expect.stringContaining('-f context=e2e-preview '),
  });
});
