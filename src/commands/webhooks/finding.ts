import { formatDuration } from '../../duration.ts';
import { type FoundCause, maxDiagnosedBytes } from '../../webhook/diagnose/diagnose.ts';
import type { WebhookVerificationError } from '../../webhook/error.ts';
import type { Context } from '../context.ts';
import type { Secrets } from './receiver.ts';

export interface Finding {
  authentic: boolean;
  code: string | null;
  timestamp: string | null;
  ageSeconds: number | null;
  /** The secret that signed; also set when only the age was refused. */
  secret: Secrets['kind'] | null;
  secretIndex: number | null;
  bytes: number;
  /** Only with `--diagnose`, for a mismatch. `tried` is false if the body is too large. */
  diagnosis?: { tried: boolean; causes: FoundCause[] };
}

export async function printFinding({ output }: Context, finding: Finding): Promise<void> {
  const { diagnosis, ...fields } = finding;
  const rows = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, String(value)]);
  const causes = diagnosis?.causes.map(({ id }) => ['cause', id]) ?? [];
  const table = { head: ['FIELD', 'VALUE'], rows: [...rows, ...causes] };
  await output.data({ schemaVersion: 1, ...finding }, table);
}

function ageSuffix(seconds: number): string {
  const days = Math.floor(Math.abs(seconds) / 86_400);
  const size = days > 2 ? `${days} days` : formatDuration(Math.abs(seconds) * 1000);
  return seconds < 0 ? `timestamp ${size} ahead` : `${size} old`;
}

export async function reportAuthentic(
  { output }: Context,
  { ageSeconds, secretIndex }: Finding,
  { keys, kind }: Secrets,
): Promise<void> {
  const which = keys.length > 1 ? ` (${(secretIndex ?? 0) + 1} of ${keys.length})` : '';
  await output.note(
    `${output.paint('good', 'authentic:')} signed with the ${kind} secret${which}, ${ageSuffix(ageSeconds ?? 0)}`,
  );
}

const tooLarge = `no diagnosis: the body is larger than ${maxDiagnosedBytes / 1024 ** 2} MiB, which is the most that rungate keeps in memory`;
const noCause =
  'no cause found: none of the usual mistakes explains the mismatch; the secret is wrong, or the body was replaced or changed in a way that cannot be undone. Compare the secret with the one in the service, and capture the body before anything processes it';

/** Returns the remedy, which may be different on the command line than in a program. */
function hintOf({ code, hint }: WebhookVerificationError, bytes: number): string | undefined {
  if (code === 'missing_header')
    return 'if the service uses other names, set --timestamp-header and --signature-header';
  if (code === 'too_old')
    return 'the delivery is a replay, or a clock is wrong; to verify an archived delivery, omit --tolerance';
  if (code === 'mismatch' && bytes === 0)
    return 'the body is empty: pass its file with --body-file, or pipe it into the command';
  return hint;
}

export async function reportRefusal(
  { output }: Context,
  error: WebhookVerificationError,
  { diagnosis, bytes }: Finding,
): Promise<void> {
  const { message, code } = error;
  await output.alert(`${output.paint('bad', 'not authentic:')} ${output.excerpt(message)} (${code})`);
  const arrow = output.paint('dim', '→');
  if (diagnosis === undefined) {
    const hint = hintOf(error, bytes);
    if (hint !== undefined) await output.alert(`  ${arrow} ${output.excerpt(hint)}`);
  } else if (diagnosis.causes.length === 0) {
    await output.alert(diagnosis.tried ? noCause : tooLarge);
  }
  for (const { id, sentence, remedy } of diagnosis?.causes ?? []) {
    await output.alert(`${output.paint('warn', 'cause:')} ${sentence} (${id})`);
    await output.alert(`  ${arrow} ${remedy}`);
  }
}
