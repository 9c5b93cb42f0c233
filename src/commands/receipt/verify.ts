import { formatDuration, parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { ReceiptError } from '../../receipt/error.ts';
import { type PublicKey, readPublicKey } from '../../receipt/keys.ts';
import { ageOf, type Examination, type Expected, examine, wholeCommit } from '../../receipt/verify.ts';
import type { Context } from '../context.ts';
import { filled, namesIn } from '../options.ts';
import type { JsonDocument } from '../result-schemas.ts';
import { readReceipt } from './show.ts';

export interface ReceiptFlags {
  key?: string[];
  commit?: string;
  repository?: string;
  project?: string;
  process?: string;
  tag?: string[];
  environment?: string;
  maxAge?: string;
  allowWarned?: boolean;
}

interface TrustedKey extends PublicKey {
  readonly path: string;
}

async function readKeys({ io }: Context, paths: readonly string[] | undefined): Promise<TrustedKey[]> {
  if (paths === undefined)
    throw new UsageError('no key to trust', {
      hint: 'give --key <file>: the .pub that rungate receipt keygen wrote; repeat --key for several',
    });
  return Promise.all(
    paths.map(async (path) => {
      const pem = new TextDecoder().decode(await readReceipt(io, '--key', filled('--key', path) ?? ''));
      try {
        return { path, ...(await readPublicKey(pem)) };
      } catch (error) {
        if (!(error instanceof ReceiptError)) throw error;
        throw new UsageError(`--key ${path}: ${error.message}`, { hint: error.hint });
      }
    }),
  );
}

function requiredCommit(text: string | undefined): string {
  const commit = wholeCommit(text);
  if (commit !== null) return commit;
  if (text === undefined)
    throw new UsageError('no commit to compare with', {
      hint: 'give --commit <sha>: the commit that this job releases, such as "$(git rev-parse HEAD)"',
    });
  throw new UsageError(`--commit: "${text}" is not a whole commit of 40 or 64 hex digits`, {
    hint: 'an abbreviation could name another commit: give the output of git rev-parse <commit>',
  });
}

function expectedFacts({ io }: Context, flags: ReceiptFlags): Omit<Expected, 'keys'> {
  const { tag, maxAge } = flags;
  if (tag !== undefined && flags.process !== undefined)
    throw new UsageError('--process and --tag cannot be combined', {
      hint: 'a run has either a process or tags: give the one that it was started with',
    });
  return {
    commit: requiredCommit(flags.commit),
    repository: filled('--repository', flags.repository),
    project: filled('--project', flags.project),
    process: filled('--process', flags.process),
    tags: tag?.flatMap((text) => namesIn('--tag', text)),
    environment: filled('--environment', flags.environment),
    maxAgeMs: maxAge === undefined ? undefined : parseDuration('--max-age', maxAge),
    allowWarned: flags.allowWarned === true,
    now: io.clock.now(),
  };
}

/** Returns the result as data. Facts of the receipt are included only if every check passed. */
function examinationData(
  { checks, keyId, statement }: Examination,
  key: string | null,
): JsonDocument<'receipt-verify'> {
  const failed = checks.find(({ status }) => status === 'failed') ?? null;
  return {
    schemaVersion: 1,
    verified: failed === null,
    failed: failed?.check ?? null,
    checks: checks.map(({ check, status, reason }) => ({ check, status, reason })),
    keyId,
    key,
    statement: failed === null ? statement : null,
  };
}

async function reportExamination(
  context: Context,
  { checks, statement }: Examination,
  key: string | null,
): Promise<void> {
  const { io, output } = context;
  const failed = checks.find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    const { check, reason, hint } = failed;
    await output.alert(`${output.paint('bad', 'refused:')} ${output.excerpt(reason ?? '', 500)} (${check})`);
    const also = checks.filter((check) => check.status === 'failed' && check !== failed);
    for (const check of also)
      await output.alert(`  also: ${output.excerpt(check.reason ?? '', 500)} (${check.check})`);
    if (hint !== undefined) await output.alert(`  ${output.paint('dim', '→')} ${output.excerpt(hint)}`);
    return;
  }
  if (statement === null) return;
  const age = formatDuration(Math.max(0, ageOf(statement, io.clock.now())));
  await output.note(
    `${output.paint('good', 'verified:')} ${statement.predicate.result}, signed with ${output.excerpt(key ?? '')}, ${age} old`,
  );
}

/** `rungate receipt verify`: returns exit code 0 for a receipt that passes every check, 1 for any other. */
export async function verifyReceiptCommand(
  context: Context,
  file: string,
  flags: ReceiptFlags,
): Promise<number> {
  const { io, output } = context;
  const expected = expectedFacts(context, flags);
  const keys = await readKeys(context, flags.key);
  const examination = await examine(await readReceipt(io, '<file>', file), { ...expected, keys });
  const key = keys.find(({ id }) => id === examination.keyId)?.path ?? null;
  const data = examinationData(examination, key);
  const rows = examination.checks.map(({ check, status, reason }) => [
    check,
    status,
    reason === null ? '' : output.excerpt(reason, 500),
  ]);
  await output.data(data, { head: ['CHECK', 'STATUS', 'REASON'], rows });
  await reportExamination(context, examination, key);
  return data.verified ? exitCodes.ok : exitCodes.failed;
}
