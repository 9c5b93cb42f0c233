import { repeated } from '../../client/repeat.ts';
import { parseRetryAfter } from '../../client/retry.ts';
import type { Clock } from '../../clock.ts';
import { HttpError, type NameOf, NetworkError } from '../../errors.ts';
import { parsedJson } from '../../json/text.ts';
import { parseApiUrl, receiver } from '../../transport/address.ts';
import { httpTransport } from '../../transport/send.ts';
import { isSame } from './entry.ts';
import { resumeInput, resumeWorkflow } from './protocol.ts';

export type StatusState = 'pending' | 'success' | 'failure' | 'error';

/** A commit status, as the branch's rules see it. */
export interface CommitStatus {
  state: StatusState;
  description: string;
}

export interface GitHubOptions {
  /** The base URL of the REST API: `https://api.github.com`. */
  url: string;
  token: string;
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  clock: Clock;
  nameOf: NameOf;
}

export const usualApi = 'https://api.github.com';
const requestTimeoutMs = 10_000;
const mostPages = 20;
const perPage = 100;
const apiVersion = '2022-11-28';

const named = (value: unknown, name: string): unknown => Object(value)[name];
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const hasContext = (check: unknown, context: string) => isSame(String(named(check, 'context')), context);

const hints: Readonly<Record<number, (credential: string) => string>> = {
  401: (credential) => `check ${credential}`,
  403: (credential) => `check the permissions of the token in ${credential}`,
  404: (credential) => `the token in ${credential} may not reach this repository: check its permissions`,
};

interface Sent {
  method: 'GET' | 'POST';
  path: string;
  content?: object;
  signal?: AbortSignal | undefined;
}
type Call = (sent: Sent) => Promise<unknown>;

/** Returns what sends one request. @throws HttpError for any status but 2xx */
function caller({ clock, token, nameOf, ...options }: GitHubOptions) {
  const to = receiver('GitHub API', nameOf);
  const base = parseApiUrl(options.url, to).href.replace(/\/$/, '');
  const transport = httpTransport({ ...options, to });
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'user-agent': 'rungate',
    'x-github-api-version': apiVersion,
  };
  const call: Call = async ({ method, path, content, signal }) => {
    const url = new URL(`${base}${path}`);
    const request = {
      endpoint: 'github',
      method,
      url,
      path: url.pathname,
      headers,
      ...(content !== undefined && { body: JSON.stringify(content) }),
      repeatable: true,
    };
    const response = await transport.send(request, { timeoutMs: requestTimeoutMs, signal });
    const { status, text } = response;
    if (status >= 200 && status <= 299) return parsedJson(text);
    const reason = named(parsedJson(text), 'message');
    const why = typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : '';
    throw new HttpError(`GitHub responded with status code ${status} to ${method} ${request.path}${why}`, {
      status,
      hint: hints[status]?.(to.credential),
      retryAfterMs: parseRetryAfter(response.headers['retry-after'], clock.now()),
    });
  };
  return { call, close: () => transport.close() };
}

/** Yields the items of a list, page by page. */
async function* itemsOf(
  call: Call,
  list: string,
  itemsIn: (page: unknown) => readonly unknown[],
  signal?: AbortSignal,
) {
  for (let page = 1; page <= mostPages; page += 1) {
    const path = `${list}?per_page=${perPage}&page=${page}`;
    const items = itemsIn(await call({ method: 'GET', path, signal }));
    yield* items;
    if (items.length < perPage) return;
  }
}

/** Returns the calls of GitHub that detached gates need. `repository`: `owner/name`. */
export function openGitHub(options: GitHubOptions) {
  const { clock } = options;
  const { call, close } = caller(options);
  const again: Call = (sent) => repeated(() => call(sent), clock, sent.signal);

  return {
    close,

    /** Needs `statuses: write`. @param context the name of the status */
    async setStatus(
      { repository, commit, context }: { repository: string; commit: string; context: string },
      { state, description }: CommitStatus,
      page: string | null,
      signal?: AbortSignal,
    ): Promise<void> {
      const content = { state, description, context, ...(page !== null && { target_url: page }) };
      await again({ method: 'POST', path: `/repos/${repository}/statuses/${commit}`, content, signal });
    },

    /** Returns the latest status of a context; null if there is none. */
    async statusOf(
      { repository, commit, context }: { repository: string; commit: string; context: string },
      signal?: AbortSignal,
    ): Promise<CommitStatus | null> {
      const path = `/repos/${repository}/commits/${commit}/status`;
      const statuses = itemsOf(again, path, (page) => listOf(named(page, 'statuses')), signal);
      for await (const status of statuses) {
        if (!hasContext(status, context)) continue;
        const description = String(named(status, 'description') ?? '');
        return { state: named(status, 'state') as StatusState, description };
      }
      return null;
    },

    /** Returns whether the rules of a branch require a status; null if they cannot be read. */
    async requires(repository: string, branch: string, context: string): Promise<boolean | null> {
      try {
        const rules = itemsOf(
          again,
          `/repos/${repository}/rules/branches/${encodeURIComponent(branch)}`,
          listOf,
        );
        for await (const rule of rules) {
          const checks = listOf(named(named(rule, 'parameters'), 'required_status_checks'));
          if (checks.some((check) => hasContext(check, context))) return true;
        }
        // The older kind of protection is not among the rules.
        const { protection } = Object(
          await again({ method: 'GET', path: `/repos/${repository}/branches/${encodeURIComponent(branch)}` }),
        ) as { protection?: unknown };
        const contexts = listOf(named(named(protection, 'required_status_checks'), 'contexts'));
        return contexts.some((one) => isSame(String(one), context));
      } catch (error) {
        if (error instanceof HttpError || error instanceof NetworkError) return null;
        throw error;
      }
    },

    /** Starts the job that goes on with a gate. Needs `actions: write`. */
    async startJob(repository: string, ref: string, id: string): Promise<void> {
      const path = `/repos/${repository}/actions/workflows/${resumeWorkflow}/dispatches`;
      await call({ method: 'POST', path, content: { ref, inputs: { [resumeInput]: id } } });
    },
  };
}
