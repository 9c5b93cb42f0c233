import { join } from 'node:path';
import type { CiContext } from '../../ci/context.ts';
import { type SkippedGate, skippedGates } from '../../ci/skipped-gate.ts';
import { expiryOf, whenText } from '../../client/credential-problems.ts';
import { kindFor } from '../../client/credentials.ts';
import { api } from '../../contract/index.ts';
import { formatDuration } from '../../duration.ts';
import { CredentialError, HttpError, type RungateError, reportError } from '../../errors.ts';
import { exitCodeOf } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { jsonFor } from '../../options/read.ts';
import { nameInCommands } from '../../options/spelling.ts';
import { isFileId, sentIds } from '../../options/table.ts';
import { excerpt } from '../../sanitize.ts';
import { shownValue } from '../../settings/fields.ts';
import { findRoot } from '../../settings/locate.ts';
import type { Settings } from '../../settings/names.ts';
import { showProxy } from '../../transport/proxy.ts';
import type { SettingSources } from '../config/sources.ts';
import type { Probe, ProbeResult } from './probes.ts';

/** The result of one check. The texts are for people, and never contain a secret. */
export interface DoctorCheck {
  readonly name: string;
  /** `skip`: the check did not apply or was not possible. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  readonly remedy: string | null;
  /** For `fail`, the exit code of a gate with this problem; otherwise 0. */
  readonly exitCode: number;
}

export const skippedRemedy =
  'GitHub counts a skipped job as success, even where it is required: remove the condition or, with a merge queue, use the workflow of rungate init --merge-queue';

export function skippedText({ file, job, condition, leftToQueue }: SkippedGate & { file: string }): string {
  if (leftToQueue) return `${file} leaves pull requests from forks in the job ${job} to the merge queue`;
  return `${file} skips the gate in the job ${job} unless ${condition}`;
}

export function findSkippedGates(io: Io): (SkippedGate & { file: string })[] {
  const root = findRoot(io.cwd, io.exists);
  const folder = ':(top).github/workflows';
  const args = ['ls-files', '-z', '--full-name', '--cached', '--others', '--exclude-standard', folder];
  const files = root === null ? [] : (io.capture(['git', ...args]) ?? '').split('\0');
  return files.flatMap((file) => {
    const path = join(root ?? '', file);
    if (!/\.ya?ml$/.test(file) || !io.exists(path)) return [];
    return skippedGates(new TextDecoder().decode(io.readFile(path))).map((gate) => ({ file, ...gate }));
  });
}

export function check(
  name: string,
  status: DoctorCheck['status'],
  detail: string,
  remedy: string | null = null,
): DoctorCheck {
  return { name, status, detail, remedy, exitCode: 0 };
}

export function failed(name: string, error: RungateError): DoctorCheck {
  const { message, hint } = reportError(error);
  return { name, status: 'fail', detail: message, remedy: hint, exitCode: exitCodeOf(error) };
}

/** Returns a warning for an error that does not stop a gate. */
export function warned(name: string, error: RungateError): DoctorCheck {
  return { ...failed(name, error), status: 'warn', exitCode: 0 };
}

export function checkSettings(settings: Settings, { unreadable }: SettingSources): DoctorCheck {
  if (unreadable !== null) return warned('settings', unreadable);
  const changed = Object.entries(settings).filter(([, setting]) => setting.origin !== 'default');
  const shown = changed.map(([name, { value, origin, detail }]) => {
    const text = isFileId(name)
      ? excerpt(JSON.stringify(shownValue(name, jsonFor(name, value as never))) ?? '', 80)
      : 'set';
    return `${name} ${text} (${detail === undefined ? origin : `${origin}: ${detail}`})`;
  });
  return check('settings', 'ok', shown.length === 0 ? 'only defaults' : shown.join('; '));
}

export function checkFileGates({ gates }: SettingSources): DoctorCheck[] {
  if (gates.length === 0) return [];
  const shown = gates.map(({ name, needs, advisory }) => {
    const facts = [needs.length > 0 && `needs ${needs.join(', ')}`, advisory && 'advisory'].filter(Boolean);
    return facts.length === 0 ? name : `${name} (${facts.join('; ')})`;
  });
  const empty = gates.filter(({ settings }) => settings.process === undefined && settings.tags === undefined);
  if (empty.length === 0) return [check('gates', 'ok', excerpt(shown.join(', '), 800))];
  const names = new Intl.ListFormat('en').format(empty.map(({ name }) => name));
  const detail = `no process or tags are set: ${excerpt(names, 400)}`;
  return [check('gates', 'warn', detail, 'write "process" or "tags" into the gate')];
}

export function checkWorkflows(io: Io): DoctorCheck[] {
  const skipped = findSkippedGates(io);
  if (skipped.length === 0) return [];
  const detail = excerpt(skipped.map(skippedText).join('; '), 800);
  const isFine = skipped.every(({ leftToQueue }) => leftToQueue);
  return [isFine ? check('workflows', 'ok', detail) : check('workflows', 'warn', detail, skippedRemedy)];
}

const nouns = { apiKey: 'API key', token: 'bearer token' } as const;

/** Lists the credentials in use and their sources, and the profile's unused credentials with the reason. */
export function checkCredentials(settings: Settings, sources: SettingSources): DoctorCheck {
  const { profile, profilesFile, kept, withheld } = sources;
  const used = sentIds.flatMap((name) => {
    const { origin, detail } = settings[name] ?? {};
    if (origin === undefined) return [];
    return `${nouns[name]} from ${origin === 'profile' ? `profile ${profile.name} (${profilesFile})` : detail}`;
  });
  const unused = sentIds.flatMap((name) => {
    const service = withheld.find((secret) => secret.name === name)?.origin;
    if (service === undefined && (!kept.includes(name) || settings[name]?.origin === 'profile')) return [];
    const reason =
      service === undefined ? `${settings[name]?.detail} takes precedence` : `it was saved for ${service}`;
    return `the ${nouns[name]} of profile ${profile.name} is not used: ${reason}`;
  });
  const detail = excerpt([...used, ...unused].join('; '), 800);
  if (used.length === 0) {
    const remedy = `set RUNGATE_API_KEY (for runs) or RUNGATE_TOKEN (for everything else), or save one with rungate login; ${nameInCommands('credentials')}`;
    return check('credentials', 'warn', detail || 'none set', remedy);
  }
  return check('credentials', 'ok', detail);
}

/** A token that expires within this time is a warning. In milliseconds. */
const soonMs = 600_000;

/** Tells when the bearer token expires, if it is a JWT. @param refused the service did not accept it, and its error says why */
export function checkToken(
  { token }: Settings,
  { now, refused }: { now: number; refused: boolean },
): DoctorCheck[] {
  const expiry = token === undefined || refused ? null : expiryOf(token.value);
  if (expiry === null) return [];
  const remedy = 'sign in to the service again, and save the new token with rungate login --token';
  const when = whenText(expiry, now);
  if (expiry <= now) return [check('token', 'warn', `the bearer token expired ${when}`, remedy)];
  const isSoon = expiry - now < soonMs;
  return [check('token', isSoon ? 'warn' : 'ok', `the bearer token expires ${when}`, isSoon ? remedy : null)];
}

/** Lists the proxies in the environment, without their user names and passwords. */
export function checkProxy(environment: Readonly<Record<string, string | undefined>>): DoctorCheck {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'];
  const shown = names
    .filter((name) => (environment[name] ?? '').trim() !== '')
    .map((name) => `${name}=${showProxy(environment[name] ?? '')}`);
  return check('proxy', 'ok', shown.length === 0 ? 'none set' : excerpt(shown.join('; '), 300));
}

/** A larger difference breaks dates in `Retry-After` and the age check of deliveries. In milliseconds. */
const skewMs = 60_000;

/** Compares this machine's clock with the `Date` header of a response, which has a precision of one second. */
export function checkClock(date: string | undefined, sentAt: number, receivedAt: number): DoctorCheck {
  const theirs = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return check('clock', 'skip', 'the responses have no Date header');
  const off = theirs - (sentAt + receivedAt) / 2;
  const difference = formatDuration(Math.abs(off));
  if (Math.abs(off) <= skewMs) return check('clock', 'ok', `within ${difference} of the service's clock`);
  const detail = `${difference} ${off > 0 ? 'behind' : 'ahead of'} the service's clock`;
  return check('clock', 'warn', detail, "correct this machine's clock, for example with NTP");
}

export function checkCi(ci: CiContext): DoctorCheck {
  const { provider, repository, ref, commitSha: commit, runId: run, job, attempt, variables } = ci;
  const reRun = attempt === null || attempt === 1 ? null : attempt - 1;
  const facts = Object.entries({ repository, ref, commit, run, job, 're-run': reRun })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${excerpt(String(value), 100)}`);
  const known = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const from = variables.length === 0 ? '' : `; from ${variables.join(', ')}`;
  return check('ci', 'ok', `${provider ?? 'none'}${known}${from}`);
}

function credentialOf({ name }: Probe, { apiKey, token, auth }: Settings): string {
  const kind = api[name].auth;
  const values = { apiKey: apiKey?.value, token: token?.value, auth: auth?.value };
  if (kind === 'either' && !apiKey && !token) return 'credential';
  return kindFor(kind, values) === 'key' ? nouns.apiKey : nouns.token;
}

export function refusesToken(probe: Probe, { error }: ProbeResult, settings: Settings): boolean {
  return error instanceof HttpError && error.status === 401 && credentialOf(probe, settings) === nouns.token;
}

/** Merges the checks of several areas that fail for the same reason: it has one remedy. */
export function mergedAreas(checks: readonly DoctorCheck[]): DoctorCheck[] {
  const byCause = new Map<string, DoctorCheck[]>();
  for (const [at, one] of checks.entries()) {
    const { status, exitCode, remedy } = one;
    const cause = status === 'ok' || remedy === null ? String(at) : [status, exitCode, remedy].join(' ');
    byCause.set(cause, [...(byCause.get(cause) ?? []), one]);
  }
  return [...byCause.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const areas = others.map(({ name }) => name.replace(/^access: /, ''));
    return { ...first, name: [first.name, ...areas].join(', ') };
  });
}

export function checkArea(probe: Probe, { error, isUnclear }: ProbeResult, settings: Settings): DoctorCheck {
  const name = `access: ${probe.area}`;
  const credential = credentialOf(probe, settings);
  if (error === null) return check(name, 'ok', `the service accepts the ${credential}`);
  if (error instanceof CredentialError)
    return check(name, 'skip', `no ${credential} is set`, error.hint ?? null);
  return isUnclear ? warned(name, error) : failed(name, error);
}
