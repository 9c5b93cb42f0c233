import { createHmac } from 'node:crypto';
import { formatDuration, parseDuration } from '../duration.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import type { Table } from '../output/table.ts';
import { excerpt } from '../sanitize.ts';
import { type Cause, diagnose, mostDiagnosed } from '../webhook/diagnose.ts';
import type { WebhookVerificationError } from '../webhook/error.ts';
import { readHeaders } from '../webhook/headers.ts';
import { parseTimestamp } from '../webhook/timestamp.ts';
import { type Candidate, judge, readCandidate } from '../webhook/verify.ts';
import type { Context } from './context.ts';
import { type Delivery, type DeliveryFlags, deliveryOf } from './webhooks-delivery.ts';
import { type Hashed, hashBody, matchOf } from './webhooks-hash.ts';
import {
  type HeaderNameFlags,
  hasSecret,
  missingSecret,
  refusalOf,
  type Secrets,
  secretsOf,
} from './webhooks-secrets.ts';

export interface VerifyFlags extends DeliveryFlags, HeaderNameFlags {
  tolerance?: string;
  at?: string;
  diagnose?: boolean;
}

const command = 'webhooks verify';

/** A timestamp may be ahead of us by this many seconds, where its age counts at all. */
const mostAhead = 60;

/** Limits for the age: none without a tolerance, since archived deliveries are old. */
export function limitsFor(tolerance: string | undefined): {
  maxAge: number | null;
  maxFuture: number | null;
} {
  if (tolerance === undefined) return { maxAge: null, maxFuture: null };
  const maxAge = parseDuration('--tolerance', tolerance) / 1000;
  return { maxAge, maxFuture: Math.min(maxAge, mostAhead) };
}

function timeAt(text: string): number {
  const at = parseTimestamp(text);
  if (at !== null) return at;
  throw new UsageError(`--at: "${text}" is not a time`, {
    hint: 'write an RFC 3339 time with a zone, such as 2026-01-15T12:00:00Z',
  });
}

/** What was found out. `code` is why it is not authentic. */
interface Finding {
  code: string | null;
  error: WebhookVerificationError | null;
  timestamp: string | null;
  ageSeconds: number | null;
  /** The secret that signed, also where the age is what was refused. */
  secretIndex: number | null;
  bytes: number | null;
  /** Null where it was not asked for or there is nothing to explain. */
  diagnosis: Diagnosis | null;
}

interface Diagnosis {
  causes: readonly Cause[];
  /** False when the body is too large to try. */
  tried: boolean;
}

interface Question {
  delivery: Delivery;
  secrets: Secrets;
  now: number;
  limits: ReturnType<typeof limitsFor>;
  diagnose: boolean;
}

/** The headers as they came, where each is there once. */
function sentHeaders({ headers, names }: Delivery): { timestamp: string; signature: string } | null {
  try {
    return readHeaders(headers, names);
  } catch {
    return null;
  }
}

function explain({ delivery, secrets }: Question, { kept }: Hashed): Diagnosis | null {
  const sent = sentHeaders(delivery);
  if (sent === null) return null;
  if (kept === null) return { causes: [], tried: false };
  const causes = diagnose({
    body: kept,
    ...sent,
    ...secrets,
    hmac: (key, parts) => parts.reduce((hmac, part) => hmac.update(part), createHmac('sha256', key)).digest(),
  });
  return { causes, tried: true };
}

/** Checks the headers, then streams the body past every secret that may have signed it. */
async function find(question: Question): Promise<Finding> {
  const { delivery, secrets, now, limits } = question;
  const { headers, names, body } = delivery;
  const sent = sentHeaders(delivery);
  const at = sent === null ? null : parseTimestamp(sent.timestamp);
  const finding: Finding = {
    code: null,
    error: null,
    timestamp: sent?.timestamp ?? null,
    ageSeconds: at === null ? null : (now - at) / 1000,
    secretIndex: null,
    bytes: null,
    diagnosis: null,
  };
  const keep = question.diagnose ? mostDiagnosed : 0;
  const refuse = (caught: unknown, hashed: Hashed | null) => {
    const error = refusalOf(caught, command);
    const unexplained = ['mismatch', 'malformed_timestamp', 'malformed_signature'].includes(error.code);
    const diagnosis = question.diagnose && hashed !== null && unexplained ? explain(question, hashed) : null;
    return { ...finding, code: error.code, error, diagnosis, bytes: hashed?.bytes ?? null };
  };
  let candidate: Candidate;
  try {
    candidate = readCandidate({
      headers,
      headerNames: names,
      secrets: [...secrets.secrets],
      tenantSecret: secrets.tenantSecret,
      ...limits,
      now: new Date(now),
    });
  } catch (error) {
    // Without a diagnosis the body is not even read.
    return refuse(error, question.diagnose ? await hashBody('', body, [], keep) : null);
  }
  const keys = secrets.tenantSecret === undefined ? secrets.secrets : [secrets.tenantSecret];
  const hashed = await hashBody(candidate.timestamp, body, keys, keep);
  const index = matchOf(sent?.signature ?? '', hashed.macs);
  if (index >= 0) finding.secretIndex = index;
  try {
    judge(candidate, index);
  } catch (error) {
    return refuse(error, hashed);
  }
  return { ...finding, bytes: hashed.bytes };
}

function kindOf(finding: Finding, { tenantSecret }: Secrets): 'webhook' | 'tenant' | null {
  if (finding.secretIndex === null) return null;
  return tenantSecret === undefined ? 'webhook' : 'tenant';
}

function dataOf(finding: Finding, secrets: Secrets): Record<string, unknown> {
  const { code, timestamp, ageSeconds, secretIndex, bytes, diagnosis } = finding;
  return {
    schemaVersion: 1,
    authentic: code === null,
    code,
    timestamp,
    ageSeconds,
    secret: kindOf(finding, secrets),
    secretIndex,
    bytes,
    ...(diagnosis === null ? {} : { diagnosis }),
  };
}

function tableOf(finding: Finding, secrets: Secrets): Table {
  const { diagnosis, ...fields } = dataOf(finding, secrets);
  const rows = Object.entries(fields)
    .filter(([name, value]) => name !== 'schemaVersion' && value !== null)
    .map(([name, value]) => [name, String(value)]);
  const causes = finding.diagnosis?.causes.map(({ id }) => ['cause', id]) ?? [];
  return { head: ['FIELD', 'VALUE'], rows: [...rows, ...causes] };
}

function aged(seconds: number | null): string {
  if (seconds === null) return '';
  const size = formatDuration(Math.abs(seconds) * 1000);
  return seconds < 0 ? `, its timestamp ${size} ahead` : `, ${size} old`;
}

async function tellDiagnosis({ output }: Context, { causes, tried }: Diagnosis): Promise<void> {
  if (!tried) {
    return output.alert(
      `no diagnosis: the body is larger than ${mostDiagnosed / 1024 ** 2} MiB, and would have to be held in memory`,
    );
  }
  if (causes.length === 0) {
    return output.alert(
      'no cause found: none of the usual mistakes explains it; the secret is another one, the body is another one, or it was changed in a way that cannot be undone. Compare the secret with the one of the service, and capture the body where it comes in',
    );
  }
  const arrow = output.paint('dim', '→');
  for (const { id, sentence, remedy } of causes) {
    await output.alert(`${output.paint('warn', 'cause:')} ${sentence} (${id})`);
    await output.alert(`  ${arrow} ${remedy}`);
  }
  if (causes.length > 1) await output.note('all of these together make the signature match');
}

async function tell(context: Context, finding: Finding, secrets: Secrets): Promise<void> {
  const { output } = context;
  const { error, ageSeconds, secretIndex } = finding;
  if (error !== null) {
    await output.alert(`${output.paint('bad', 'not authentic:')} ${excerpt(error.message)} (${error.code})`);
    const isHintSpent = finding.diagnosis !== null || error.hint === undefined;
    if (!isHintSpent) await output.alert(`  ${output.paint('dim', '→')} ${excerpt(error.hint ?? '')}`);
    if (finding.diagnosis !== null) await tellDiagnosis(context, finding.diagnosis);
    return;
  }
  const count = secrets.tenantSecret === undefined ? secrets.secrets.length : 1;
  const which = count > 1 ? ` (${(secretIndex ?? 0) + 1} of ${count})` : '';
  await output.note(
    `${output.paint('good', 'authentic:')} signed with the ${kindOf(finding, secrets)} secret${which}${aged(ageSeconds)}`,
  );
}

/** `rungate webhooks verify`: 0 for an authentic delivery, 1 for one that is not. */
export async function verifyCommand(context: Context, flags: VerifyFlags): Promise<number> {
  const { io, output, settings } = context;
  const limits = limitsFor(flags.tolerance);
  const now = flags.at === undefined ? io.clock.now() : timeAt(flags.at);
  const remarks: string[] = [];
  const delivery = await deliveryOf(context, flags, (line) => remarks.push(line));
  const secrets = secretsOf(settings);
  if (!hasSecret(secrets)) throw missingSecret(command);
  const finding = await find({ delivery, secrets, now, limits, diagnose: flags.diagnose === true });
  for (const remark of remarks) await output.note(`--request-file: ${remark}`);
  await output.data(dataOf(finding, secrets), tableOf(finding, secrets));
  await tell(context, finding, secrets);
  return finding.code === null ? exitCodes.ok : exitCodes.failed;
}
