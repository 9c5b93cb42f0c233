import { ConfigError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';
import { excerpt } from '../sanitize.ts';
import { cleanText, type Env, type Reader, readerOf } from './provider-row.ts';
import { webUrl } from './provider-url.ts';

/** A platform, and the place of the URL of the deployment that its job is about. */
interface Source {
  readonly platform: string;
  /** A variable that each job of the platform has, and its value. */
  readonly mark: readonly [name: string, value: string];
  /** A variable, or a path in the event's payload. */
  readonly place: string | readonly string[];
  /** The place in messages, unless it is a variable. */
  readonly from?: string;
  /** The variable contains only the host. */
  readonly isHost?: true;
  /** Returns why the deployment cannot be tested and what to do, or null. */
  readonly refusal?: (read: Reader) => readonly [why: string, remedy: string] | null;
  /** The remedy if there is no URL, besides giving one. */
  readonly remedy?: string;
}

/** Vercel's events about a deployment that responds. */
const readyOnVercel = /^vercel\.deployment\.(?:ready|success|promoted)$/;

const shown = (value: unknown) => excerpt(cleanText(value) ?? 'unknown', 60);

/*
 * The first row whose mark is set decides, even without a URL: any other URL would be that of another deployment. GitHub's
 * event comes first, then the CI, then the hosts, because a runner may itself run on Render.
 *
 * During the build on Vercel, Netlify, Render or Cloudflare, the URL does not respond yet; that of Render may show the last build.
 */
const sources: readonly Source[] = [
  // https://docs.github.com/en/webhooks/webhook-events-and-payloads#deployment_status
  {
    platform: 'GitHub',
    mark: ['GITHUB_EVENT_NAME', 'deployment_status'],
    place: ['deployment_status', 'environment_url'],
    from: 'environment_url of the deployment_status event',
    refusal: (read) => {
      const state = read.payload('deployment_status', 'state');
      const remedy = "run the job only `if: github.event.deployment_status.state == 'success'`";
      return state === 'success' ? null : [`the state of the deployment is ${shown(state)}`, remedy];
    },
    remedy: 'set environment_url where the deployment status is created',
  },
  // https://vercel.com/docs/git/vercel-for-github#repository-dispatch-events
  {
    platform: 'Vercel',
    mark: ['GITHUB_EVENT_NAME', 'repository_dispatch'],
    place: ['client_payload', 'url'],
    from: 'client_payload.url of the vercel.deployment event',
    refusal: (read) => {
      const action = shown(read.payload('action'));
      const remedy = 'run the job on repository_dispatch with the type vercel.deployment.success';
      return readyOnVercel.test(action) ? null : [`the event is ${action}`, remedy];
    },
  },
  // Another event: a variable of a host would be about the runner, not about a deployment.
  {
    platform: 'GitHub',
    mark: ['GITHUB_ACTIONS', 'true'],
    place: [],
    refusal: (read) => [
      `the event is ${shown(read.text('GITHUB_EVENT_NAME'))}`,
      'run the job on deployment_status',
    ],
  },
  // https://docs.gitlab.com/ci/variables/predefined_variables/
  {
    platform: 'GitLab',
    mark: ['GITLAB_CI', 'true'],
    place: 'CI_ENVIRONMENT_URL',
    remedy: 'set environment:url in the job',
  },
  // https://vercel.com/docs/environment-variables/system-environment-variables (VERCEL_BRANCH_URL follows the branch)
  { platform: 'Vercel', mark: ['VERCEL', '1'], place: 'VERCEL_URL', isHost: true },
  // https://docs.netlify.com/build/configure-builds/environment-variables/ (DEPLOY_PRIME_URL follows the branch)
  { platform: 'Netlify', mark: ['NETLIFY', 'true'], place: 'DEPLOY_URL' },
  // https://render.com/docs/environment-variables (the URL is the service's, and a preview is a service)
  {
    platform: 'Render',
    mark: ['RENDER', 'true'],
    place: 'RENDER_EXTERNAL_URL',
    refusal: (read) =>
      read.isTrue('IS_PULL_REQUEST')
        ? null
        : ['IS_PULL_REQUEST is not true', 'run the job in a pull request preview'],
  },
  // https://developers.cloudflare.com/pages/configuration/build-configuration/#environment-variables
  { platform: 'Cloudflare Pages', mark: ['CF_PAGES', '1'], place: 'CF_PAGES_URL' },
];

function failed(what: string, remedy?: string, cause?: unknown): ConfigError {
  const give = 'give the URL of the deployment instead of auto';
  return new ConfigError(what, { hint: remedy === undefined ? give : `${remedy}, or ${give}`, cause });
}

/** Returns the text of the event's payload. @throws ConfigError if it cannot be read or is not JSON */
function payloadOf(env: Env, readFile: (path: string) => Uint8Array): string {
  try {
    const text = new TextDecoder().decode(readFile(env.GITHUB_EVENT_PATH ?? ''));
    JSON.parse(text);
    return text;
  } catch (cause) {
    const what = `the payload of the ${shown(env.GITHUB_EVENT_NAME)} event cannot be read`;
    const path = excerpt(env.GITHUB_EVENT_PATH ?? '') || 'GITHUB_EVENT_PATH is not set';
    throw failed(`${what}: ${path}`, 'mount the file if the job runs in a container', cause);
  }
}

/** Returns the URL, without the slash of an empty path. @throws ConfigError unless it is http(s), without credentials */
function checked(value: unknown, { from, isHost }: { from: string; isHost: boolean }): string {
  const text = cleanText(value) ?? '';
  const address = isHost && !/^https?:/i.test(text) ? `https://${text}` : text;
  const url = /[${}<>\s]/.test(address) ? null : webUrl(address);
  // `webUrl` removes credentials. The message does not repeat the text, which may contain one.
  if (url !== null && url === parseUrl(address)?.href) return url.replace(/^(https?:\/\/[^/?#]+)\/$/, '$1');
  throw failed(
    `not an http or https URL without credentials: ${from}`,
    'check for a placeholder that was not replaced',
  );
}

/**
 * Returns the URL of the deployment that the job is about, and where it comes from, for messages.
 * @throws ConfigError if there is none, or the deployment did not succeed
 */
export function previewUrl(env: Env, readFile: (path: string) => Uint8Array): { url: string; from: string } {
  const source = sources.find(({ mark: [name, value] }) => cleanText(env[name])?.toLowerCase() === value);
  if (source === undefined) {
    const places = sources.flatMap(({ platform, place, from = place }) =>
      from.length === 0 ? [] : [`${from} (${platform})`],
    );
    throw failed(`found no URL of a deployment: looked for ${places.join(', ')}`);
  }
  const { place, isHost = false, remedy } = source;
  const read = readerOf(env, source.from === undefined ? undefined : payloadOf(env, readFile));
  const [why, instead] = source.refusal?.(read) ?? [];
  if (why !== undefined) throw failed(`no deployment to test: ${why}`, instead);
  const from = source.from ?? String(place);
  const value = typeof place === 'string' ? env[place] : read.payload(...place);
  if (value == null || (typeof value === 'string' && value.trim() === ''))
    throw failed(`the deployment has no URL: ${from} is not set`, remedy);
  return { url: checked(value, { from, isHost }), from };
}
