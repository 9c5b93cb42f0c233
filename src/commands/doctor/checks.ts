import type { CiContext } from '../../ci/context.ts';
import type { Exchange } from '../../client/caller.ts';
import { kindFor } from '../../client/credentials.ts';
import { formatDuration } from '../../duration.ts';
import { CredentialError, RungateError, reportError } from '../../errors.ts';
import { exitCodeOf } from '../../exit.ts';
import { excerpt } from '../../sanitize.ts';
import { type Settings, sentNames } from '../../settings/names.ts';
import { showProxy } from '../../transport/proxy.ts';
import type { Sources } from '../config/sources.ts';
import { notFound, type Probe } from './probes.ts';

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
export function checkSettings(settings: Settings, { unreadable }: Pick<Sources, 'unreadable'>): Check {
  if (unreadable !== null) return { ...failed('settings', unreadable), status: 'warn', exitCode: 0 };
  const given = Object.entries(settings).filter(([, setting]) => setting.origin !== 'default');
  const shown = given.map(([name, { value, origin, detail }]) => {
    const text = secrets.includes(name) ? 'set' : excerpt(JSON.stringify(value) ?? '', 80);
    return `${name} ${text} (${detail === undefined ? origin : `${origin}: ${detail}`})`;
  });
  return check('settings', 'ok', shown.length === 0 ? 'none but the defaults' : shown.join('; '));
}

const words = { apiKey: 'API key', token: 'bearer token' } as const;

/** Which credentials are used and where each comes from; and which of the profile's are not used, and why. */
export function checkCredentials(
  settings: Settings,
  { profile, profilesFile, kept, withheld }: Pick<Sources, 'profile' | 'profilesFile' | 'kept' | 'withheld'>,
): Check {
  const own = `profile ${profile.name}`;
  const used = sentNames.flatMap((name) => {
    const { origin, detail } = settings[name] ?? {};
    if (origin === undefined) return [];
    return `${words[name]} from ${origin === 'profile' ? `${own} (${profilesFile})` : detail}`;
  });
  const unused = sentNames.flatMap((name) => {
    const other = withheld.find((one) => one.name === name);
    if (other !== undefined)
      return `the ${words[name]} of ${own} is not used: it was given for ${other.origin}`;
    if (!kept.includes(name) || settings[name]?.origin === 'profile') return [];
    return `the ${words[name]} of ${own} is not used: ${settings[name]?.detail} comes first`;
  });
  const detail = excerpt([...used, ...unused].join('; '), 800);
  if (used.length === 0) {
    const remedy =
      'set RUNGATE_API_KEY (for runs) or RUNGATE_TOKEN (for all else), or keep one: rungate login';
    return check('credentials', 'warn', detail === '' ? 'none set' : detail, remedy);
  }
  return check('credentials', 'ok', detail);
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

/** What a probe came to. */
export type ProbeResult = { reply: Exchange } | { error: unknown };

/** The credential that a probe uses, as a noun. */
function credentialOf({ endpoint }: Probe, { apiKey, token, auth }: Settings): string {
  const values = { apiKey: apiKey?.value, token: token?.value, auth: auth?.value };
  if (endpoint.auth === 'either' && !apiKey && !token) return 'credential';
  return kindFor(endpoint.auth, values) === 'key' ? words.apiKey : words.token;
}

export function checkArea(probe: Probe, result: ProbeResult, settings: Settings): Check {
  const name = `access: ${probe.area}`;
  const credential = credentialOf(probe, settings);
  const error = 'error' in result ? result.error : null;
  const found = notFound(probe, error);
  if (error === null || found === 'accepted') return check(name, 'ok', `the ${credential} is accepted`);
  if (error instanceof CredentialError)
    return check(name, 'skip', `no ${credential} is set`, error.hint ?? null);
  if (!(error instanceof RungateError)) throw error;
  // The status of a missing run, and not in the words of the service: it may be another server that answers.
  return found === 'unclear' ? { ...failed(name, error), status: 'warn', exitCode: 0 } : failed(name, error);
}
