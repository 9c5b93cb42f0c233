import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsForFork } from '../../src/ci/fork.ts';
import { previewUrl } from '../../src/ci/preview-url.ts';
import type { Env } from '../../src/ci/provider-row.ts';
import { ConfigError } from '../../src/errors.ts';

const folder = new URL('../../fixtures/deployments/', import.meta.url);
const fixture = (name: string) => readFileSync(new URL(`${name}.json`, folder), 'utf8');

const onGithub = (event: string): Env => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_EVENT_NAME: event,
  GITHUB_EVENT_PATH: '/github/event.json',
});
const status = onGithub('deployment_status');
const dispatch = onGithub('repository_dispatch');

function reading(payload: string | undefined) {
  return (path: string): Uint8Array => {
    if (payload === undefined || path !== '/github/event.json') throw new Error(`ENOENT: ${path}`);
    return new TextEncoder().encode(payload);
  };
}

const find = (env: Env, payload?: string) => previewUrl(env, reading(payload));

/** Returns the message and the hint of the error. */
function refusal(env: Env, payload?: string): [message: string, hint: string | undefined] {
  try {
    find(env, payload);
  } catch (error) {
    if (error instanceof ConfigError) return [error.message, error.hint];
    throw error;
  }
  throw new Error('there is a URL');
}

const statusWith = (fields: object) => JSON.stringify({ deployment_status: { state: 'success', ...fields } });
const gitlab = { GITLAB_CI: 'true', CI_ENVIRONMENT_URL: 'https://mr-12.review.example/shop/' };
const vercel = { VERCEL: '1', VERCEL_URL: 'shop-4f9c2d0e-acme.vercel.example' };
const netlify = { NETLIFY: 'true', DEPLOY_URL: 'https://5b243e66--shop.netlify.example' };
const render = {
  RENDER: 'true',
  IS_PULL_REQUEST: 'true',
  RENDER_EXTERNAL_URL: 'https://shop-pr-12.onrender.example',
};
const cloudflare = { CF_PAGES: '1', CF_PAGES_URL: 'https://4f9c2d0e.shop.pages.example' };

describe('the URL of the deployment', () => {
  const preview = 'https://shop-4f9c2d0e-acme.preview.example';
  test.each<[string, Env, string | undefined, string, string]>([
    [
      'a deployment_status event',
      status,
      fixture('success'),
      preview,
      'environment_url of the deployment_status event',
    ],
    [
      'a dispatch of Vercel',
      dispatch,
      fixture('vercel-success'),
      preview,
      'client_payload.url of the vercel.deployment event',
    ],
    ['GitLab', gitlab, undefined, 'https://mr-12.review.example/shop/', 'CI_ENVIRONMENT_URL'],
    ['Vercel', vercel, undefined, 'https://shop-4f9c2d0e-acme.vercel.example', 'VERCEL_URL'],
    ['Netlify', netlify, undefined, 'https://5b243e66--shop.netlify.example', 'DEPLOY_URL'],
    ['Render', render, undefined, 'https://shop-pr-12.onrender.example', 'RENDER_EXTERNAL_URL'],
    ['Cloudflare', cloudflare, undefined, 'https://4f9c2d0e.shop.pages.example', 'CF_PAGES_URL'],
  ])('comes from %s', (_, env, payload, url, from) => expect(find(env, payload)).toEqual({ url, from }));

  test.each(['ready', 'success', 'promoted'])('comes from the event vercel.deployment.%s', (type) => {
    const payload = fixture('vercel-success').replace('deployment.success', `deployment.${type}`);
    expect(find(dispatch, payload).url).toBe(preview);
  });

  test.each([
    [
      'is that of this deployment, not of the branch, on Vercel',
      { ...vercel, VERCEL_BRANCH_URL: 'b.example' },
    ],
    [
      'is that of this deployment, not of the branch, on Netlify',
      { ...netlify, DEPLOY_PRIME_URL: 'https://b.example' },
    ],
    ['is that of this deployment, not of the site, on Netlify', { ...netlify, URL: 'https://b.example' }],
  ])('%s', (_, env) => expect(find(env).url).not.toContain('b.example'));

  test.each([
    ['keeps a path', 'https://review.example/shop', 'https://review.example/shop'],
    ['keeps a query', 'https://review.example/?mr=12', 'https://review.example/?mr=12'],
    ['keeps a port', 'http://review.example:8080', 'http://review.example:8080'],
    ['has no slash alone as its path', 'https://review.example/', 'https://review.example'],
    ['has no space around it', ' https://review.example\n', 'https://review.example'],
    ['has an encoded host', 'https://rëview.example', 'https://xn--rview-nsa.example'],
  ])('%s', (_, text, url) => expect(find({ ...gitlab, CI_ENVIRONMENT_URL: text }).url).toBe(url));

  test('may have a scheme on Vercel', () =>
    expect(find({ ...vercel, VERCEL_URL: 'https://shop.vercel.example' }).url).toBe(
      'https://shop.vercel.example',
    ));
});

describe('if several platforms match,', () => {
  const hosts = { ...vercel, ...netlify, ...render, ...cloudflare };

  test('the event of GitHub decides', () =>
    expect(find({ ...hosts, ...gitlab, ...status }, fixture('success')).from).toBe(
      'environment_url of the deployment_status event',
    ));

  test('the event of GitHub decides even without a URL', () => {
    const env = { ...hosts, ...gitlab, ...status };
    expect(refusal(env, fixture('failure'))[0]).toContain('failure');
    expect(refusal(env, fixture('without-environment-url'))[0]).toContain('environment_url');
    expect(refusal(env)[0]).toContain('cannot be read');
    expect(refusal({ ...env, GITHUB_EVENT_NAME: 'push' })[0]).toContain('push');
  });

  test('GitLab comes before a host, on which its runner may run', () => {
    expect(find({ ...hosts, ...gitlab }).from).toBe('CI_ENVIRONMENT_URL');
    expect(refusal({ ...hosts, ...gitlab, CI_ENVIRONMENT_URL: '' })[0]).toContain('CI_ENVIRONMENT_URL');
  });
});

describe('an error', () => {
  const onlyIf =
    /^run the job only `if: github\.event\.deployment_status\.state == 'success'`, or give the URL/;
  test.each<[string, Env, string | undefined, string, RegExp]>([
    [
      'names the state of a deployment that goes on',
      status,
      fixture('in-progress'),
      'no deployment to test: the state of the deployment is in_progress',
      onlyIf,
    ],
    [
      'names the state of a failed deployment',
      status,
      fixture('failure'),
      'no deployment to test: the state of the deployment is failure',
      onlyIf,
    ],
    [
      'says that the state is unknown',
      status,
      '{"deployment_status":{"state":{}}}',
      'no deployment to test: the state of the deployment is unknown',
      onlyIf,
    ],
    [
      'says that environment_url is missing',
      status,
      fixture('without-environment-url'),
      'the deployment has no URL: environment_url of the deployment_status event is not set',
      /^set environment_url where/,
    ],
    [
      'says that environment_url is empty',
      status,
      statusWith({ environment_url: '' }),
      'the deployment has no URL: environment_url of the deployment_status event is not set',
      /^set environment_url where/,
    ],
    [
      'names a payload that cannot be read',
      status,
      undefined,
      'the payload of the deployment_status event cannot be read: /github/event.json',
      /container/,
    ],
    [
      'says that the payload has no path',
      { ...status, GITHUB_EVENT_PATH: '' },
      fixture('success'),
      'the payload of the deployment_status event cannot be read: GITHUB_EVENT_PATH is not set',
      /container/,
    ],
    [
      'names a payload that is not JSON',
      dispatch,
      '{"action":',
      'the payload of the repository_dispatch event cannot be read: /github/event.json',
      /container/,
    ],
    [
      'names the event of Vercel about a failed deployment',
      dispatch,
      fixture('vercel-failed'),
      'no deployment to test: the event is vercel.deployment.failed',
      /type vercel\.deployment\.success/,
    ],
    [
      'names another dispatch',
      dispatch,
      '{"action":"rebuild","client_payload":{"url":"https://shop.example"}}',
      'no deployment to test: the event is rebuild',
      /type vercel\.deployment\.success/,
    ],
    [
      'names another event of GitHub',
      onGithub('pull_request'),
      undefined,
      'no deployment to test: the event is pull_request',
      /^run the job on deployment_status, or give the URL/,
    ],
    [
      'says what a job of GitLab needs',
      { GITLAB_CI: 'true' },
      undefined,
      'the deployment has no URL: CI_ENVIRONMENT_URL is not set',
      /^set environment:url in the job/,
    ],
    [
      'names the variable of a host',
      { ...vercel, VERCEL_URL: ' ' },
      undefined,
      'the deployment has no URL: VERCEL_URL is not set',
      /^give the URL of the deployment instead of auto$/,
    ],
    [
      'refuses the service of Render that is not a preview',
      { ...render, IS_PULL_REQUEST: 'false' },
      undefined,
      'no deployment to test: IS_PULL_REQUEST is not true',
      /pull request preview/,
    ],
    [
      'lists the places of a URL outside all platforms',
      { VERCEL: '0', NETLIFY: '', CI: 'true' },
      undefined,
      'found no URL of a deployment: looked for environment_url of the deployment_status event (GitHub), ' +
        'client_payload.url of the vercel.deployment event (Vercel), CI_ENVIRONMENT_URL (GitLab), ' +
        'VERCEL_URL (Vercel), DEPLOY_URL (Netlify), RENDER_EXTERNAL_URL (Render), CF_PAGES_URL (Cloudflare Pages)',
      /^give the URL of the deployment instead of auto$/,
    ],
  ])('%s', (_, env, payload, message, hint) => {
    expect(refusal(env, payload)[0]).toBe(message);
    expect(refusal(env, payload)[1]).toMatch(hint);
  });

  test.each([
    ['a script', 'javascript:alert(1)'],
    ['a file', 'file:///etc/passwd'],
    ['another scheme', 'ftp://shop.example'],
    ['a host alone', 'shop.example'],
    ['a number', 5],
    ['a list', ['https://shop.example']],
    ['a placeholder', 'https://$HOST.review.example'],
    ['an expression', 'https://{{ host }}.review.example'],
    ['a control character', 'https://shop.example/\u0007'],
    ['a line break', 'https://shop.example\n::error::x'],
    ['a long text', `https://shop.example/${'x'.repeat(1000)}`],
    ['a user and a password', 'https://octocat:s3cr3t@shop.example'],
    ['a user', 'https://s3cr3t@shop.example'],
    ['a password with a slash', 'https://octocat:s3/cr3t@shop.example'],
    ['a token', 'https://shop.example/?token=s3cr3t'],
  ])('refuses %s, without showing it', (_, value) => {
    const [message, hint] = refusal(status, statusWith({ environment_url: value }));
    expect(message).toBe(
      'not an http or https URL without credentials: environment_url of the deployment_status event',
    );
    expect(hint).not.toContain('s3cr3t');
  });

  test.each(['javascript:alert(1)', 'octocat:s3cr3t@shop.example', '//', '$HOST', 'https:evil.example'])(
    'refuses %s as the host on Vercel',
    (host) => expect(refusal({ ...vercel, VERCEL_URL: host })[0]).toContain('VERCEL_URL'),
  );

  test('shows a hostile text on one line, without control characters', () => {
    const hostile = '::error::x\u001b[31m\n::set-output\u202e';
    for (const payload of [statusWith({ state: hostile }), '{}'])
      expect(refusal({ ...status, GITHUB_EVENT_PATH: hostile }, payload)[0]).not.toMatch(
        /[\u0000-\u001f\u202e]/,
      );
    expect(refusal(status, statusWith({ state: `success\u202e${'x'.repeat(900)}` }))[0]).toMatch(
      /^[ -~…]{1,150}$/,
    );
  });
});

test.each(readdirSync(folder).filter((name) => name.endsWith('.json')))(
  'the fixture %s names only reserved domains',
  (name) => {
    const hosts = [...fixture(name.slice(0, -5)).matchAll(/https?:\/\/([^/"]+)/g)].map(([, host]) => host);
    expect(hosts.filter((host) => !host?.endsWith('.example'))).toEqual([]);
  },
);

test('a deployment of a commit, as Vercel creates it, counts as one for a fork', () => {
  expect(runsForFork({ ...status, GITHUB_REF: '' }, reading(fixture('success')))).toBe(true);
});

test('any environment and any payload result in an http(s) URL or a ConfigError', () => {
  const all = { ...status, ...gitlab, ...vercel, ...netlify, ...render, ...cloudflare };
  const names = Object.keys(all);
  const text = fc.oneof(
    fc.constantFrom('true', '1', 'deployment_status', 'repository_dispatch', '/github/event.json'),
    fc.constantFrom('https://shop.example/?mr=12#top', 'ftp://shop.example', 'shop.example'),
    fc.string({ unit: 'binary' }),
    fc.string().map((rest) => `https://${rest}`),
  );
  const json = fc.jsonValue({ maxDepth: 1 });
  const payload = fc.oneof(
    fc.record({
      action: fc.oneof(fc.constantFrom('vercel.deployment.success', 'created'), text, json),
      client_payload: fc.oneof(fc.record({ url: fc.oneof(text, json) }), json),
      deployment_status: fc.oneof(
        fc.record({
          state: fc.oneof(fc.constant('success'), text),
          environment_url: fc.oneof(text, json),
        }),
        json,
      ),
    }),
    json,
  );
  const file = fc.oneof(
    payload.map((value) => JSON.stringify(value)),
    fc.constantFrom(fixture('success'), fixture('vercel-success'), fixture('failure'), undefined),
    fc.string(),
  );
  const urls = names.filter((name) => name.includes('_URL'));
  const withTexts = (some: string[]) =>
    fc.record(Object.fromEntries(some.map((name) => [name, text])), { requiredKeys: [] });
  const env = fc.oneof({ weight: 3, arbitrary: withTexts(urls) }, withTexts(names));
  const marks = fc.constantFrom<Env>({}, status, dispatch, gitlab, vercel, netlify, render, cloudflare);
  const found = new Set<string>();
  fc.assert(
    fc.property(env, marks, fc.boolean(), file, (random, known, last, content) => {
      const variables = last ? { ...random, ...known } : { ...known, ...random };
      try {
        const { url, from } = find(variables, content);
        expect(url).toMatch(/^https?:\/\/[!-~]+$/);
        expect(new URL(url).username + new URL(url).password).toBe('');
        found.add(from);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        expect((error as ConfigError).message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }
    }),
    { numRuns: 1000 },
  );
  expect(found.size).toBe(7);
});
