import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { diagnose, mostDiagnosed } from '../../webhook/diagnose/diagnose.ts';
import { readHeaders } from '../../webhook/headers.ts';
import { type Hashed, hashBody, matchOf } from '../../webhook/hmac.ts';
import { parseTimestamp } from '../../webhook/timestamp.ts';
import { type Candidate, judge, readCandidate } from '../../webhook/verify.ts';
import type { Context } from '../context.ts';
import { type Delivery, type DeliveryFlags, deliveryOf } from './delivery.ts';
import { type Diagnosis, dataOf, type Finding, tableOf, tell } from './finding.ts';
import {
  type HeaderNameFlags,
  hasSecret,
  missingSecret,
  refusalOf,
  type Secrets,
  secretsOf,
} from './secrets.ts';

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
  return { causes: diagnose({ body: kept, ...sent, ...secrets }), tried: true };
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
