import { parseTimestamp } from '../../date-time.ts';
import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { diagnose, maxDiagnosedBytes } from '../../webhook/diagnose/diagnose.ts';
import type { WebhookVerificationError } from '../../webhook/error.ts';
import { type HeaderNames, readDeliveryHeaders } from '../../webhook/headers.ts';
import { verifySync } from '../../webhook/node.ts';
import { command, rowOptions } from '../spec.ts';
import { deliveryOptions, readSavedDelivery, type SavedDelivery } from './delivery.ts';
import { type Finding, printFinding, reportAuthentic, reportRefusal } from './finding.ts';
import { missingSecret, refusalOf, type Secrets, secretsNote, signingSecrets } from './receiver.ts';

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

/** Returns the time of an option, in milliseconds. @throws UsageError */
export function timeOf(option: string, text: string): number {
  const time = parseTimestamp(text);
  if (time !== null) return time;
  throw new UsageError(`${option}: "${text}" is not a time with a zone`, {
    hint: 'write an RFC 3339 time, such as 2026-01-15T12:00:00Z, or omit the option for the current time',
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
  sent: HeaderNames | null,
  { keys, kind }: Secrets,
  limits: ReturnType<typeof limitsFor>,
  now: Date,
): { finding: Finding; error: WebhookVerificationError | null } {
  const { headers, names, body } = delivery;
  const input = { body, headers, headerNames: names, secrets: keys, now };
  const finding: Finding = {
    authentic: false,
    code: null,
    timestamp: sent?.timestamp ?? null,
    ageSeconds: null,
    secret: null,
    secretIndex: null,
    bytes: body.length,
  };
  try {
    const { ageSeconds, secretIndex } = verifySync({ ...input, maxAge: null, maxFuture: null });
    finding.ageSeconds = ageSeconds;
    finding.secret = kind;
    finding.secretIndex = secretIndex;
    verifySync({ ...input, ...limits });
    finding.authentic = true;
    return { finding, error: null };
  } catch (caught) {
    const error = refusalOf(caught, 'webhooks verify');
    finding.code = error.code;
    finding.ageSeconds = error.ageSeconds ?? null;
    return { finding, error };
  }
}

export const webhooksVerify = command({
  name: 'verify',
  summary: 'verify a saved delivery offline',
  description: 'Verify a saved delivery: exit 0 if it is authentic, 1 if not. Reads the body as raw bytes.',
  options: {
    ...deliveryOptions,
    '--tolerance <duration>': 'maximum age of the delivery (default: any age)',
    '--at <time>': 'time to compare the timestamp with (default now)',
    '--diagnose': 'on a mismatch, look for the usual mistakes',
    ...rowOptions('webhooks'),
  },
  notes: secretsNote,
  examples: ['rungate webhooks verify --request-file capture.http --diagnose'],
  decides: true,
  async run(context, _args, flags) {
    const { io, output, settings } = context;
    const limits = limitsFor(flags.tolerance);
    const now = flags.at === undefined ? io.clock.now() : timeOf('--at', flags.at);
    const notes: string[] = [];
    const delivery = await readSavedDelivery(context, flags, (line) => notes.push(line));
    const secrets = signingSecrets(settings);
    if (secrets.keys.length === 0) throw missingSecret('webhooks verify');
    const { body } = delivery;
    const sent = sentHeaders(delivery);
    const { finding, error } = checkDelivery(delivery, sent, secrets, limits, new Date(now));
    if (flags.diagnose === true && finding.code === 'mismatch' && sent !== null) {
      const { secrets: webhookSecrets, tenantSecret } = secrets;
      const causes = diagnose({ body, ...sent, secrets: webhookSecrets, tenantSecret });
      finding.diagnosis = { tried: body.length <= maxDiagnosedBytes, causes };
    }
    for (const note of notes) await output.note(`--request-file: ${note}`);
    await printFinding(context, finding);
    if (error === null) await reportAuthentic(context, finding, secrets);
    else await reportRefusal(context, error, finding);
    return error === null ? exitCodes.ok : exitCodes.failed;
  },
});
