import { formatDuration } from '../../duration.ts';
import type { Table } from '../../output/table.ts';
import { maxDiagnosedBytes } from '../../webhook/diagnose/diagnose.ts';
import type { WebhookVerificationError } from '../../webhook/error.ts';
import type { Context } from '../context.ts';
import type { Secrets } from './receiver.ts';

/** Why the signature does not match. */
export interface Diagnosis {
  readonly causes: readonly { readonly id: string; readonly sentence: string; readonly remedy: string }[];
  /** False if the body is too large for a diagnosis. */
  readonly tried: boolean;
}

export interface Finding {
  /** The reason why the delivery is not authentic. */
  error: WebhookVerificationError | null;
  timestamp: string | null;
  ageSeconds: number | null;
  /** The secret that signed; also set when only the age was refused. */
  secretIndex: number | null;
  bytes: number;
  /** Null without `--diagnose`, or if there is nothing to explain. */
  diagnosis: Diagnosis | null;
}

export function findingData(finding: Finding, secrets: Secrets) {
  const { error, timestamp, ageSeconds, secretIndex, bytes, diagnosis } = finding;
  return {
    schemaVersion: 1,
    authentic: error === null,
    code: error?.code ?? null,
    timestamp,
    ageSeconds,
    secret: secretIndex === null ? null : secrets.kind,
    secretIndex,
    bytes,
    ...(diagnosis === null ? {} : { diagnosis }),
  };
}

export function findingTable(finding: Finding, secrets: Secrets): Table {
  const { diagnosis, ...fields } = findingData(finding, secrets);
  const rows = Object.entries(fields)
    .filter(([name, value]) => name !== 'schemaVersion' && value !== null)
    .map(([name, value]) => [name, String(value)]);
  const causes = finding.diagnosis?.causes.map(({ id }) => ['cause', id]) ?? [];
  return { head: ['FIELD', 'VALUE'], rows: [...rows, ...causes] };
}

function ageSuffix(seconds: number | null): string {
  if (seconds === null) return '';
  const days = Math.floor(Math.abs(seconds) / 86_400);
  const size = days > 2 ? `${days} days` : formatDuration(Math.abs(seconds) * 1000);
  return seconds < 0 ? `, timestamp ${size} ahead` : `, ${size} old`;
}

async function reportDiagnosis({ output }: Context, { causes, tried }: Diagnosis): Promise<void> {
  if (!tried) {
    return output.alert(
      `no diagnosis: the body is larger than ${maxDiagnosedBytes / 1024 ** 2} MiB, which is the most that rungate keeps in memory`,
    );
  }
  if (causes.length === 0) {
    return output.alert(
      'no cause found: none of the usual mistakes explains the mismatch; the secret is wrong, or the body was replaced or changed in a way that cannot be undone. Compare the secret with the one in the service, and capture the body before anything processes it',
    );
  }
  const arrow = output.paint('dim', '→');
  for (const { id, sentence, remedy } of causes) {
    await output.alert(`${output.paint('warn', 'cause:')} ${sentence} (${id})`);
    await output.alert(`  ${arrow} ${remedy}`);
  }
}

/** Returns the remedy if it is different on the command line than in a program. */
function commandLineHint({ error, bytes }: Finding): string | undefined {
  if (error?.code === 'missing_header')
    return 'if the service uses other names, set --timestamp-header and --signature-header';
  if (error?.code === 'too_old')
    return 'it is a replay, or a clock is wrong; to verify an archived delivery, omit --tolerance';
  return error?.code === 'mismatch' && bytes === 0
    ? 'the body is empty: pass its file with --body-file, or pipe it into the command'
    : undefined;
}

export async function reportFinding(context: Context, finding: Finding, secrets: Secrets): Promise<void> {
  const { output } = context;
  const { error, ageSeconds, secretIndex } = finding;
  if (error !== null) {
    await output.alert(
      `${output.paint('bad', 'not authentic:')} ${output.excerpt(error.message)} (${error.code})`,
    );
    if (finding.diagnosis !== null) return reportDiagnosis(context, finding.diagnosis);
    const hint = commandLineHint(finding) ?? error.hint;
    if (hint === undefined) return;
    return output.alert(`  ${output.paint('dim', '→')} ${output.excerpt(hint)}`);
  }
  const count = secrets.keys.length;
  const which = count > 1 ? ` (${(secretIndex ?? 0) + 1} of ${count})` : '';
  await output.note(
    `${output.paint('good', 'authentic:')} signed with the ${secrets.kind} secret${which}${ageSuffix(ageSeconds)}`,
  );
}
