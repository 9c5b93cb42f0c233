import { describe, expect, it } from 'vitest';
import { previewPipelines } from '../../src/ci/preview-pipelines.ts';
import { planned } from '../ci/planned.ts';
import { type Stage, stage } from '../cli/harness.ts';
import { read, snippets, type Yaml, yaml } from './ci-job.ts';
import { commandIn } from './command-in.ts';

const blocks = snippets('docs/how-to/previews.md').filter(({ language }) => language === 'yaml');
const under = (heading: string): Yaml => yaml(blocks.find(({ name }) => name === heading)?.text ?? '');
const inputs = Object.keys(yaml(read('action.yml')).inputs);

describe.each([
  ['GitHub and Vercel', 'vercel'],
  ['GitHub and Netlify', 'netlify'],
] as const)('the workflow of "%s"', (heading, host) => {
  const shown = under(heading);
  const written = yaml(previewPipelines[host].text(planned));
  const job = shown.jobs['e2e-preview'];
  const own = written.jobs['e2e-preview'];

  it('has the event, the timeout and the condition of the one that init writes', () => {
    expect(shown.on).toEqual(written.on);
    expect(job['timeout-minutes']).toBeGreaterThan(own['timeout-minutes'] - 10);
    const clauses = (text: string) => new Set(text.split(' && ').map((clause) => clause.trim()));
    const named = own.if.replace(
      "startsWith(github.event.context, 'netlify/') && endsWith(github.event.context, '/deploy-preview')",
      "github.event.context == 'netlify/my-site/deploy-preview'",
    );
    expect(clauses(job.if)).toEqual(clauses(named));
  });

  it('gives the action only inputs that it has, and checks nothing out', () => {
    const [step] = job.steps;
    expect(Object.keys(step.with).filter((name) => !inputs.includes(name))).toEqual([]);
    expect(Object.keys(step.with)).toEqual(
      expect.arrayContaining(['api-url', 'api-key', 'token', 'base-url']),
    );
    expect(JSON.stringify(job)).not.toContain('checkout@');
  });
});

describe('the job of "GitLab review apps"', () => {
  it('tests the URL of its environment', async () => {
    const job = under('GitLab review apps')['e2e-preview'];
    const on: Stage = await stage({ deployed: '3c1d9a7', duration: 100 });
    try {
      const env = { GITLAB_CI: 'true', CI_ENVIRONMENT_URL: `${on.mock.url}/_mock/version` };
      const command = commandIn(job) ?? '';
      const { code, err } = await on.with({ env, files: {} })(...command.split(' ').slice(4));
      expect(code, err).toBe(0);
      expect(err).toContain(`(${env.CI_ENVIRONMENT_URL})`);
      // GitLab sets the variable only then.
      expect(job.environment.url).toBeDefined();
    } finally {
      await on.close();
    }
  });
});
