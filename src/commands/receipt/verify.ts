import { formatDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import type { Table } from '../../output/table.ts';
import { ReceiptError } from '../../receipt/error.ts';
import { type Key, readPublicKey } from '../../receipt/keys.ts';
import { factsOf } from '../../receipt/statement.ts';
import { ageOf, type Examination, type Expected, examine } from '../../receipt/verify.ts';
import { instead } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import type { JsonDocument } from '../result-schemas.ts';
import { demandsOf, type VerifyFlags } from './demands.ts';
import { namedReceipts, readReceipt } from './files.ts';

interface TrustedKey extends Key {
  readonly path: string;
}

async function readKeys({ io }: Context, paths: readonly string[] | undefined): Promise<TrustedKey[]> {
  if (paths === undefined)
    throw new UsageError('no key to trust', {
      hint: 'give --key <file>: the .pub that rungate receipt keygen wrote; repeat --key for several',
    });
  return Promise.all(
    paths.map(async (path) => {
      filled('--key', path);
      const pem = new TextDecoder().decode(await readReceipt(io, 'key', path));
      try {
        return { path, ...readPublicKey(pem) };
      } catch (error) {
        if (!(error instanceof ReceiptError)) throw error;
        throw new UsageError(`--key ${path}: ${error.message}`, { hint: error.hint });
      }
    }),
  );
}

/** A receipt with the result of its checks. */
interface Verification {
  readonly path: string;
  readonly examination: Examination;
  /** The path of the trusted key that signed, or null. */
  readonly key: string | null;
  readonly verified: boolean;
  /** The gate that a signed receipt is about; null if it does not say. */
  readonly gate: string | null;
}

async function verificationOf(
  io: Io,
  path: string,
  expected: Omit<Expected, 'keys'>,
  keys: readonly TrustedKey[],
): Promise<Verification> {
  const examination = examine(await readReceipt(io, '<file>', path), { ...expected, keys });
  const { checks, keyId, statement } = examination;
  return {
    path,
    examination,
    key: keys.find(({ id }) => id === keyId)?.path ?? null,
    verified: checks.every(({ status }) => status !== 'failed'),
    gate: statement === null ? null : (factsOf(statement).gate ?? null),
  };
}

/** Returns the result as data. Facts of the receipt are included only if every check passed. */
function verificationData({ examination: { checks, keyId, statement }, key, verified }: Verification) {
  return {
    verified,
    failed: checks.find(({ status }) => status === 'failed')?.check ?? null,
    checks: checks.map(({ check, status, reason }) => ({ check, status, reason })),
    keyId,
    key,
    statement: verified && statement !== null ? { ...statement } : null,
  };
}

async function refuse(
  output: Output,
  what: string,
  hint?: string,
  also: readonly string[] = [],
): Promise<void> {
  await output.alert(`${output.paint('bad', 'refused:')} ${what}`);
  for (const line of also) await output.alert(line);
  if (hint !== undefined) await output.alert(`  ${output.paint('dim', '→')} ${hint}`);
}

/** @param name the file for a message, if there are several receipts */
async function reportVerification(
  { io, output }: Context,
  { examination: { checks, statement }, key }: Verification,
  name: string,
): Promise<void> {
  const [first, ...others] = checks.filter(({ status }) => status === 'failed');
  if (first !== undefined) {
    const { check, reason, hint } = first;
    const also = others.map((one) => `  also: ${output.excerpt(one.reason ?? '', 500)} (${one.check})`);
    const what = `${name}${output.excerpt(reason ?? '', 500)} (${check})`;
    return refuse(output, what, hint && output.excerpt(hint), also);
  }
  if (statement === null) return;
  const age = formatDuration(Math.max(0, ageOf(statement, io.clock.now())));
  await output.note(
    `${output.paint('good', 'verified:')} ${name}${statement.predicate.result}, signed with ${output.excerpt(key ?? '')}, ${age} old`,
  );
}

/** Says why a gate of `--gate` is missing, and which gates the receipts are about. */
async function reportMissing(
  { output }: Context,
  gate: string,
  receipts: readonly Verification[],
): Promise<void> {
  const about = receipts.filter((one) => one.gate === gate);
  const why = about.length > 0 ? 'no receipt was verified of' : 'there is no receipt of';
  const what = `${why} the gate ${output.excerpt(JSON.stringify(gate))}`;
  if (about.length > 0) return refuse(output, what);
  const names = [...new Set(receipts.flatMap((one) => one.gate ?? []))];
  const hint =
    names.length === 0
      ? 'these receipts name no gate: only rungate gate with the gates of a project file writes one'
      : instead(gate, names, `the receipts are of ${names.join(', ')}`);
  await refuse(output, what, output.excerpt(hint, 500));
}

function allData(receipts: readonly Verification[], missing: readonly string[], verified: boolean) {
  return {
    verified,
    missing: [...missing],
    receipts: receipts.map((one) => ({ file: one.path, gate: one.gate, ...verificationData(one) })),
  };
}

/** Returns a table with a line for each check of the only receipt, or for each of several receipts. */
function tableOf({ excerpt }: Output, receipts: readonly Verification[], only?: Verification): Table {
  const text = (reason: string | null | undefined) => excerpt(reason ?? '', 500);
  if (only !== undefined)
    return {
      head: ['CHECK', 'STATUS', 'REASON'],
      rows: only.examination.checks.map(({ check, status, reason }) => [check, status, text(reason)]),
    };
  const rows = receipts.map(({ path, gate, verified, examination: { checks } }) => {
    const failed = checks.find(({ status }) => status === 'failed');
    return [text(path), excerpt(gate ?? ''), verified ? 'passed' : 'failed', text(failed?.reason)];
  });
  return { head: ['FILE', 'GATE', 'STATUS', 'REASON'], rows };
}

/** `rungate receipt verify`: returns exit code 0 if every receipt passes every check and no gate is missing, otherwise 1. */
export async function verifyReceiptCommand(
  context: Context,
  files: readonly string[],
  flags: VerifyFlags,
): Promise<number> {
  const { io, output } = context;
  const expected = { ...(await demandsOf(io, flags)), now: io.clock.now() };
  const gates = [...new Set(flags.gate)];
  for (const gate of gates) filled('--gate', gate);
  const keys = await readKeys(context, flags.key);
  const { paths, empty, hasFolder } = namedReceipts(io, files);
  const receipts: Verification[] = [];
  for (const path of paths) receipts.push(await verificationOf(io, path, expected, keys));
  const missing = gates.filter((gate) => !receipts.some((one) => one.verified && one.gate === gate));
  const verified =
    receipts.length > 0 &&
    empty.length === 0 &&
    missing.length === 0 &&
    receipts.every((one) => one.verified);
  const only = receipts.length === 1 && !hasFolder && gates.length === 0 ? receipts[0] : undefined;
  const result = only === undefined ? allData(receipts, missing, verified) : verificationData(only);
  const data: JsonDocument<'receipt-verify'> = { schemaVersion: 1, ...result };
  await output.data(data, tableOf(output, receipts, only));
  for (const one of receipts) {
    const name = only === undefined ? `${output.excerpt(one.path, 500)}: ` : '';
    await reportVerification(context, one, name);
  }
  for (const folder of empty) {
    const hint = 'a receipt there is a file *.json; its subfolders are not read';
    await refuse(output, `${output.excerpt(folder, 500)}: the folder has no receipts`, hint);
  }
  for (const gate of missing) await reportMissing(context, gate, receipts);
  return verified ? exitCodes.ok : exitCodes.failed;
}
