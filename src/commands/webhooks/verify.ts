import { parseTimestamp } from '../../date-time.ts';
import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { diagnose, maxDiagnosedBytes } from '../../webhook/diagnose/diagnose.ts';
import { type HeaderNames, readDeliveryHeaders } from '../../webhook/headers.ts';
import { type HashedBody, hashBody, indexOfMac } from '../../webhook/hmac.ts';
import { judgeDelivery, readUnchecked } from '../../webhook/verify.ts';
import type { Context } from '../context.ts';
import { type DeliveryFlags, readSavedDelivery, type SavedDelivery } from './delivery.ts';
import { type Finding, findingData, findingTable, reportFinding } from './finding.ts';
import { missingSecret, refusalOf, type Secrets, signingSecrets } from './receiver.ts';

interface VerifyFlags extends DeliveryFlags {
  tolerance?: string;
  at?: string;
  diagnose?: boolean;
}

const command = 'webhooks verify';

/** The maximum number of seconds that a timestamp may be ahead, if there is a tolerance. */
const maxFutureSeconds = 60;

/** Returns the limits for the age; none without a tolerance, since archived deliveries are old. */
export function limitsFor(tolerance: string | undefined): {
  maxAge: number | null;
  maxFuture: number | null;
} {
  if (tolerance === undefined) return { maxAge: null, maxFuture: null };
  const maxAge = parseDuration('--tolerance', tolerance) / 1000;
  return { maxAge, maxFuture: Math.min(maxAge, maxFutureSeconds) };
}

function timeAt(text: string): number {
  const time = parseTimestamp(text);
  if (time !== null) return time;
  throw new UsageError(`--at: "${text}" is not a time`, {
    hint: 'write an RFC 3339 time with a zone, such as 2026-01-15T12:00:00Z',
  });
}

interface VerifyInput {
  delivery: SavedDelivery;
  secrets: Secrets;
  now: number;
  limits: ReturnType<typeof limitsFor>;
  isDiagnosed: boolean;
}

/** Returns the received headers if each is present exactly once. */
function sentHeaders({ headers, names }: SavedDelivery): HeaderNames | null {
  try {
    return readDeliveryHeaders(headers, names);
  } catch {
    return null;
  }
}

/** The errors that a diagnosis can explain. */
const explainable: readonly string[] = ['mismatch', 'malformed_timestamp', 'malformed_signature'];

/** Checks the headers, then hashes the streamed body with every secret that may have signed it. */
async function checkDelivery({ delivery, secrets, now, limits, isDiagnosed }: VerifyInput): Promise<Finding> {
  const { headers, names, body } = delivery;
  const { keys } = secrets;
  const sent = sentHeaders(delivery);
  const at = parseTimestamp(sent?.timestamp ?? '');
  const finding: Finding = {
    error: null,
    timestamp: sent?.timestamp ?? null,
    ageSeconds: at === null ? null : (now - at) / 1000,
    secretIndex: null,
    bytes: null,
    diagnosis: null,
  };
  const maxKept = isDiagnosed ? maxDiagnosedBytes : 0;
  let hashed: HashedBody | null = null;
  try {
    const candidate = readUnchecked({
      headers,
      headerNames: names,
      secrets: keys,
      ...limits,
      now: new Date(now),
    });
    hashed = await hashBody(candidate.timestamp, body, keys, maxKept);
    const index = indexOfMac(hashed.macs, candidate.mac);
    if (index >= 0) finding.secretIndex = index;
    judgeDelivery(candidate, index);
  } catch (caught) {
    finding.error = refusalOf(caught, command);
    // The body of a malformed delivery is read only for a diagnosis.
    if (isDiagnosed) hashed ??= await hashBody('', body, [], maxKept);
  }
  finding.bytes = hashed?.bytes ?? null;
  if (isDiagnosed && hashed !== null && sent !== null && explainable.includes(finding.error?.code ?? '')) {
    finding.diagnosis = {
      tried: hashed.body !== null,
      causes: hashed.body === null ? [] : diagnose({ body: hashed.body, ...sent, ...secrets }),
    };
  }
  return finding;
}

/** `rungate webhooks verify`: returns exit code 0 for an authentic delivery, 1 for any other. */
export async function verifyDeliveryCommand(context: Context, flags: VerifyFlags): Promise<number> {
  const { io, output, settings } = context;
  const limits = limitsFor(flags.tolerance);
  const now = flags.at === undefined ? io.clock.now() : timeAt(flags.at);
  const notes: string[] = [];
  const delivery = await readSavedDelivery(context, flags, (line) => notes.push(line));
  const secrets = signingSecrets(settings);
  if (secrets.keys.length === 0) throw missingSecret(command);
  const finding = await checkDelivery({
    delivery,
    secrets,
    now,
    limits,
    isDiagnosed: flags.diagnose === true,
  });
  for (const note of notes) await output.note(`--request-file: ${note}`);
  await output.data(findingData(finding, secrets), findingTable(finding, secrets));
  await reportFinding(context, finding, secrets);
  return finding.error === null ? exitCodes.ok : exitCodes.failed;
}
