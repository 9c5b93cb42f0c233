import type { CiContext } from '../../ci/context.ts';
import type { CallerInput, Exchange } from '../../client/caller.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { env } from '../../contract/env.ts';
import { orders } from '../../contract/orders.ts';
import { run } from '../../contract/run.ts';
import { webhooks } from '../../contract/webhooks.ts';
import { formatDuration } from '../../duration.ts';
import { CredentialError, HttpError, RungateError, reportError } from '../../errors.ts';
import { exitCodeOf } from '../../exit.ts';
import { excerpt } from '../../sanitize.ts';
import type { Settings } from '../../settings/names.ts';
import { showProxy } from '../../transport/proxy.ts';

/** One thing that was looked at. `skip`: there was nothing to look at, or no way to. */
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail' | 'skip';
  /** What was seen, never with a secret in it. */
  detail: string;
  remedy: string | null;
  /** The exit code that this asks for; 0 but for `fail`. */
  exitCode: number;
}

export function check(
  name: string,
  status: Check['status'],
  detail: string,
  remedy: string | null = null,
): Check {
  return { name, status, detail, remedy, exitCode: 0 };
}

/** A failed check from the error that showed it. */
export function failed(name: string, error: RungateError): Check {
  const { message, hint } = reportError(error);
  return { name, status: 'fail', detail: message, remedy: hint, exitCode: exitCodeOf(error) };
}

const secrets: readonly string[] = ['apiKey', 'token', 'webhookSecrets', 'tenantSecret'];

/** Which settings there are and where they came from. */
export function checkSettings(settings: Settings): Check {
  const given = Object.entries(settings).filter(([, setting]) => setting.origin !== 'default');
  const shown = given.map(([name, { value, origin, detail }]) => {
    const text = secrets.includes(name) ? 'set' : excerpt(JSON.stringify(value) ?? '', 80);
    return `${name} ${text} (${detail === undefined ? origin : `${origin}: ${detail}`})`;
  });
  return check('settings', 'ok', shown.length === 0 ? 'none but the defaults' : shown.join('; '));
}

/** The proxies that the environment names, without what they may hold of a user and a password. */
export function checkProxy(environment: Readonly<Record<string, string | undefined>>): Check {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'];
  const given = names.filter((name) => (environment[name] ?? '').trim() !== '');
  if (given.length === 0) return check('proxy', 'ok', 'none set');
  const shown = given.map((name) => `${name}=${showProxy(environment[name] ?? '')}`);
  return check('proxy', 'ok', excerpt(shown.join('; '), 300));
}

/** Beyond this, dates in `Retry-After` and the age of webhooks go wrong. */
const skewMs = 60_000;

/** How far our clock is from the service's, as the date of its response says; a date has whole seconds. */
export function checkClock(date: string | undefined, sentAt: number, receivedAt: number): Check {
  const theirs = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return check('clock', 'skip', 'the service says no date');
  const off = theirs - (sentAt + receivedAt) / 2;
  const away = formatDuration(Math.abs(off));
  if (Math.abs(off) <= skewMs) return check('clock', 'ok', `within ${away} of the service's`);
  const detail = `${away} ${off > 0 ? 'behind' : 'ahead of'} the service's`;
  return check('clock', 'warn', detail, 'set this machine to the right time (NTP)');
}

/** The rate limits in the headers of the responses; of several, the last. */
export function checkLimits(replies: readonly Readonly<Record<string, string>>[]): Check {
  const known = new Map(replies.flatMap((headers) => Object.entries(headers)));
  const limits = [...known].filter(([name]) => /^(x-)?ratelimit(-|$)/.test(name) || name === 'retry-after');
  const detail = limits.map(([name, value]) => `${name}: ${value}`).join('; ');
  if (limits.length > 0) return check('limits', 'ok', excerpt(detail, 300));
  return check(
    'limits',
    'skip',
    'the service tells of none; documented are 100 requests a minute, 60 reads, 20 creates',
  );
}

/** What was detected of the CI, and from which variables. */
export function checkCi(ci: CiContext): Check {
  const { provider, repository, ref, commitSha: commit, runId: run, job, attempt, variables } = ci;
  const facts = Object.entries({ repository, ref, commit, run, job, attempt })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${excerpt(String(value), 100)}`);
  const known = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const from = variables.length === 0 ? '' : `; from ${variables.join(', ')}`;
  return check('ci', 'ok', `${provider ?? 'none'}${known}${from}`);
}

/** A read that changes nothing, for each area of the service. */
export interface Probe {
  area: string;
  name: string;
  endpoint: Endpoint;
  input: CallerInput;
  /** The credential is right also when this status comes: what was asked for is not there. */
  also?: number;
}

export const probes: readonly Probe[] = [
  {
    area: 'runs',
    name: 'run.status',
    endpoint: run['run.status'],
    input: { params: { runId: 'rungate-doctor' } },
    also: 404,
  },
  {
    area: 'environments',
    name: 'env.list',
    endpoint: env['env.list'],
    input: { params: {}, query: { page: 1, pageSize: 1 } },
  },
  {
    area: 'webhooks',
    name: 'webhooks.eventTypes',
    endpoint: webhooks['webhooks.eventTypes'],
    input: { params: {} },
  },
  { area: 'orders', name: 'orders.summary', endpoint: orders['orders.summary'], input: { params: {} } },
];

/** What a probe came to. */
export type ProbeResult = { reply: Exchange } | { error: unknown };

const credentials = {
  key: 'API key',
  bearer: 'bearer token',
  jwt: 'bearer token',
  either: 'credential',
} as const;

export function checkArea({ area, endpoint, also }: Probe, result: ProbeResult): Check {
  const name = `access: ${area}`;
  const credential = credentials[endpoint.auth];
  const error = 'error' in result ? result.error : null;
  if (error === null || (error instanceof HttpError && error.status === also))
    return check(name, 'ok', `the ${credential} is accepted`);
  if (error instanceof CredentialError)
    return check(name, 'skip', `no ${credential} is set`, error.hint ?? null);
  if (error instanceof RungateError) return failed(name, error);
  throw error;
}
