import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docsPage } from '../../src/repository.ts';
import { signSync } from '../../src/webhook/node.ts';
import { type Settings, type Stage, stage, trigger } from './harness.ts';

interface Mistake {
  /** The mistake of a new user; fixtures/mistakes.txt has the message and the exit code. */
  name: string;
  argv: readonly string[];
  world?: (on: Stage) => Settings;
  /** The number of requests that are sent; most mistakes are found before. */
  sent?: number;
}

const env = (more: Record<string, string | undefined>) => () => ({ env: more });

let on: Stage;
beforeAll(async () => {
  on = await stage({ outcome: 'passed' });
});
afterAll(() => on.close());

const wait = [...trigger, '--wait'] as const;
const url = (make: (url: string) => string) => (on: Stage) => ({
  env: { RUNGATE_API_URL: make(on.mock.url) },
});
const secret = 'whsec_0123456789';
const sentAt = '2026-11-20T12:00:00Z';
const body = '{"event":"run.completed","failed":0}';
const signed = signSync({ body, secret, timestamp: sentAt });
const verify = [
  'webhooks',
  'verify',
  '--timestamp',
  sentAt,
  '--signature',
  signed.signature,
  '--body-file',
  'b',
];
const kept = (text: string) => () => ({ env: { RUNGATE_WEBHOOK_SECRET: secret }, files: { b: text } });

/** A job of GitHub Actions without secrets, for a pull request whose commit is in the repository `head`. */
const onGithub = (more: Record<string, string>, head: string) => () => ({
  env: {
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: '/event.json',
    RUNGATE_API_KEY: '',
    RUNGATE_TOKEN: undefined,
    ...more,
  },
  files: {
    '/event.json': JSON.stringify({
      repository: { full_name: 'acme/shop' },
      pull_request: { head: { repo: { full_name: head } } },
    }),
  },
});

const mistakes: readonly Mistake[] = [
  { name: 'a policy without --wait', argv: [...trigger, '--strict'] },
  { name: 'no URL', argv: wait, world: env({ RUNGATE_API_URL: undefined }) },
  { name: 'no credential', argv: wait, world: env({ RUNGATE_API_KEY: undefined, RUNGATE_TOKEN: undefined }) },
  {
    name: 'a pull request from a fork, in which the variable is empty',
    argv: wait,
    world: env({ RUNGATE_API_KEY: '', RUNGATE_TOKEN: undefined, CI: 'true' }),
  },
  { name: 'a pull request from a fork on GitHub', argv: wait, world: onGithub({}, 'mallory/shop') },
  {
    name: 'a pull request from a fork on GitHub, which gets no variables either',
    argv: wait,
    world: onGithub({ RUNGATE_API_URL: '' }, 'mallory/shop'),
  },
  {
    name: 'a pull request of Dependabot',
    argv: wait,
    world: onGithub({ GITHUB_ACTOR: 'dependabot[bot]' }, 'acme/shop'),
  },
  { name: 'a pull request on GitHub without the secret', argv: wait, world: onGithub({}, 'acme/shop') },
  { name: 'a wrong key', argv: wait, world: env({ RUNGATE_API_KEY: 'rg_of_another_service' }), sent: 1 },
  {
    name: 'a token in place of the key',
    argv: wait,
    world: (on) => ({ env: { RUNGATE_API_KEY: on.mock.token } }),
    sent: 1,
  },
  { name: 'a secret on the command line', argv: [...wait, '--api-key', 'rg_1234567890abcdef'] },
  {
    name: 'https for a service that uses http',
    argv: ['run', 'status', 'run_1'],
    world: url((one) => one.replace('http:', 'https:')),
  },
  { name: 'a URL without https://', argv: wait, world: env({ RUNGATE_API_URL: 'localhost:4010' }) },
  {
    name: 'a service or mock that is not running',
    argv: ['run', 'status', 'run_1'],
    world: env({ RUNGATE_API_URL: 'http://127.0.0.1:1' }),
  },
  {
    name: 'a proxy that is not running',
    argv: ['run', 'status', 'run_1'],
    world: env({ RUNGATE_API_URL: 'https://service.example.com', HTTPS_PROXY: 'http://127.0.0.1:1' }),
  },
  { name: 'a process and tags', argv: [...wait, '--tag', 'smoke'] },
  { name: 'neither a process nor tags', argv: ['run', 'trigger', '--project', 'shop'] },
  {
    name: 'a project that the service does not know',
    argv: ['run', 'trigger', '--project', 'shpo', '--process', 'checkout'],
    world: (on) => {
      on.mock.faults.add({ kind: 'status', status: 404, endpoint: 'run.trigger', times: 1 });
      return {};
    },
    sent: 1,
  },
  { name: 'a duration with an unknown unit', argv: [...wait, '--timeout', '60min'] },
  {
    name: 'a webhook body that was parsed and serialized again',
    argv: verify,
    world: kept('{ "event": "run.completed", "failed": 0 }'),
  },
  {
    name: 'an old delivery, with a tolerance',
    argv: [...verify, '--tolerance', '5m', '--at', '2026-11-21T12:00:00Z'],
    world: kept(body),
  },
  { name: 'a command without its group', argv: ['trigger', '--project', 'shop'] },
  { name: 'a misspelt option', argv: [...wait, '--enviroment', 'staging'] },
  { name: 'a value for an option that takes none', argv: [...wait, '--strict=true'] },
];

/** Replaces the ports, which differ between runs, and the address of the docs. */
const stable = (text: string) =>
  text
    .replaceAll(/\b(127\.0\.0\.1|localhost):\d{5}/g, '$1:PORT')
    .replaceAll(docsPage('docs/how-to/keys.md'), 'docs/how-to/keys.md');

const page: string[] = [];

describe('the mistakes of a new user', () => {
  it.each(mistakes.map((mistake) => [mistake.name, mistake] as const))('%s', async (_name, mistake) => {
    const { argv, world, sent = 0 } = mistake;
    const before = on.mock.requests.length;
    const ended = await on.with(world?.(on) ?? {})(...argv);
    // The remedy is on its own line.
    expect(ended.err).toMatch(/^ +→ \S/m);
    expect(on.mock.requests.length - before).toBe(sent);
    for (const one of [on.mock.apiKey, on.mock.token, secret, 'rg_1234567890abcdef', 'rg_of_another_service'])
      expect(ended.out + ended.err).not.toContain(one);
    const words = argv.map((word) => (/[\s{]/.test(word) ? JSON.stringify(word) : word)).join(' ');
    page.push(`# ${mistake.name}\n$ rungate ${stable(words)}\n${stable(ended.err)}exit code ${ended.code}\n`);
  });

  it('are listed with their messages in fixtures/mistakes.txt', async () => {
    expect(page).toHaveLength(mistakes.length);
    const stale = 'fixtures/mistakes.txt is stale: run npm run generate';
    await expect(page.join('\n'), stale).toMatchFileSnapshot('../../fixtures/mistakes.txt');
  });
});
