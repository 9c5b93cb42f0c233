import { parseTimestamp } from '../../date-time.ts';
import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { diagnose, maxDiagnosedBytes } from '../../webhook/diagnose/diagnose.ts';
import { type HeaderNames, readDeliveryHeaders } from '../../webhook/headers.ts';
import { verifySync } from '../../webhook/node.ts';
import type { Context } from '../context.ts';
import { type DeliveryFlags, readSavedDelivery, type SavedDelivery } from './delivery.ts';
import { type Diagnosis, type Finding, findingData, findingTable, reportFinding } from './finding.ts';
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

/** Returns the received headers if each is present exactly once. */
function sentHeaders({ headers, names }: SavedDelivery): HeaderNames | null {
  try {
    return readDeliveryHeaders(headers, names);
  } catch {
    return null;
  }
}

/** Checks the signature first, so that a delivery that is only too old still names the secret that signed it. */
function checkDelivery(
  delivery: SavedDelivery,
  { keys }: Secrets,
  limits: ReturnType<typeof limitsFor>,
  now: Date,
): Finding {
  const { headers, names, body } = delivery;
  const input = { body, headers, headerNames: names, secrets: keys, now };
  const finding: Finding = {
    error: null,
    timestamp: sentHeaders(delivery)?.timestamp ?? null,
    ageSeconds: null,
    secretIndex: null,
    bytes: body.length,
    diagnosis: null,
  };
  try {
    const { ageSeconds, secretIndex } = verifySync({ ...input, maxAge: null, maxFuture: null });
    finding.ageSeconds = ageSeconds;
    finding.secretIndex = secretIndex;
    verifySync({ ...input, ...limits });
  } catch (caught) {
    finding.error = refusalOf(caught, command);
    finding.ageSeconds = finding.error.ageSeconds ?? null;
  }
  return finding;
}

/** Explains a mismatch. */
function diagnosisOf(delivery: SavedDelivery, secrets: Secrets): Diagnosis | null {
  const { body } = delivery;
  const sent = sentHeaders(delivery);
  if (sent === null) return null;
  const tried = body.length <= maxDiagnosedBytes;
  return {
    tried,
    causes: diagnose({
      body,
      timestamp: sent.timestamp,
      signature: sent.signature,
      secrets: secrets.secrets,
      tenantSecret: secrets.tenantSecret,
    }),
  };
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
  const finding = checkDelivery(delivery, secrets, limits, new Date(now));
  if (flags.diagnose === true && finding.error?.code === 'mismatch') {
    finding.diagnosis = diagnosisOf(delivery, secrets);
  }
  for (const note of notes) await output.note(`--request-file: ${note}`);
  await output.data(findingData(finding, secrets), findingTable(finding, secrets));
  await reportFinding(context, finding, secrets);
  return finding.error === null ? exitCodes.ok : exitCodes.failed;
}
