import { formatDuration } from '../../duration.ts';
import type { Table } from '../../output/table.ts';
import { type Cause, mostDiagnosed } from '../../webhook/diagnose/diagnose.ts';
import type { WebhookVerificationError } from '../../webhook/error.ts';
import type { Context } from '../context.ts';
import type { Secrets } from './secrets.ts';

/** What was found out. */
export interface Finding {
  /** Why it is not authentic. */
  error: WebhookVerificationError | null;
  timestamp: string | null;
  ageSeconds: number | null;
  /** The secret that signed, also where the age is what was refused. */
  secretIndex: number | null;
  bytes: number | null;
  /** Null where it was not asked for or there is nothing to explain. */
  diagnosis: Diagnosis | null;
}

export interface Diagnosis {
  causes: readonly Cause[];
  /** False when the body is too large to try. */
  tried: boolean;
}

export function dataOf(finding: Finding, secrets: Secrets): Record<string, unknown> {
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

export function tableOf(finding: Finding, secrets: Secrets): Table {
  const { diagnosis, ...fields } = dataOf(finding, secrets);
  const rows = Object.entries(fields)
    .filter(([name, value]) => name !== 'schemaVersion' && value !== null)
    .map(([name, value]) => [name, String(value)]);
  const causes = finding.diagnosis?.causes.map(({ id }) => ['cause', id]) ?? [];
  return { head: ['FIELD', 'VALUE'], rows: [...rows, ...causes] };
}

function aged(seconds: number | null): string {
  if (seconds === null) return '';
  const days = Math.floor(Math.abs(seconds) / 86_400);
  const size = days > 2 ? `${days} days` : formatDuration(Math.abs(seconds) * 1000);
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

/** What to do on the command line, where it is not what a program would do. */
function remedies({ error, bytes }: Finding): string | undefined {
  if (error?.code === 'missing_header')
    return 'if the service calls it otherwise, give --timestamp-header and --signature-header';
  return error?.code === 'mismatch' && bytes === 0
    ? 'the body is empty: name its file with --body-file, or pipe it'
    : undefined;
}

/** What a person is told. */
export async function tell(context: Context, finding: Finding, secrets: Secrets): Promise<void> {
  const { output } = context;
  const { error, ageSeconds, secretIndex } = finding;
  if (error !== null) {
    await output.alert(
      `${output.paint('bad', 'not authentic:')} ${output.excerpt(error.message)} (${error.code})`,
    );
    if (finding.diagnosis !== null) return tellDiagnosis(context, finding.diagnosis);
    const hint = remedies(finding) ?? error.hint;
    if (hint === undefined) return;
    return output.alert(`  ${output.paint('dim', '→')} ${output.excerpt(hint)}`);
  }
  const count = secrets.keys.length;
  const which = count > 1 ? ` (${(secretIndex ?? 0) + 1} of ${count})` : '';
  await output.note(
    `${output.paint('good', 'authentic:')} signed with the ${secrets.kind} secret${which}${aged(ageSeconds)}`,
  );
}
