import { formatDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { ReceiptError } from '../../receipt/error.ts';
import { type Key, readPublicKey } from '../../receipt/keys.ts';
import { factsOf } from '../../receipt/statement.ts';
import { ageOf, type Examination, type Expected, examine } from '../../receipt/verify.ts';
import { instead } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import type { JsonDocument } from '../result-schemas.ts';
import { demandsOf, type VerifyFlags } from './demands.ts';
import { namedReceipts } from './files.ts';
import { readReceipt } from './show.ts';

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
    statement: verified ? statement : null,
  };
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
    const mark = output.paint('bad', 'refused:');
    await output.alert(`${mark} ${name}${output.excerpt(reason ?? '', 500)} (${check})`);
    for (const also of others)
      await output.alert(`  also: ${output.excerpt(also.reason ?? '', 500)} (${also.check})`);
    if (hint !== undefined) await output.alert(`  ${output.paint('dim', '→')} ${output.excerpt(hint)}`);
    return;
  }
  if (statement === null) return;
  const age = formatDuration(Math.max(0, ageOf(statement, io.clock.now())));
  await output.note(
    `${output.paint('good', 'verified:')} ${name}${statement.predicate.result}, signed with ${output.excerpt(key ?? '')}, ${age} old`,
  );
}

async function verifyOne(context: Context, verification: Verification): Promise<boolean> {
  const { output } = context;
  const { checks } = verification.examination;
  const rows = checks.map(({ check, status, reason }) => [check, status, output.excerpt(reason ?? '', 500)]);
  const data: JsonDocument<'receipt-verify'> = { schemaVersion: 1, ...verificationData(verification) };
  await output.data(data, { head: ['CHECK', 'STATUS', 'REASON'], rows });
  await reportVerification(context, verification, '');
  return verification.verified;
}

/** Says why a gate of `--gate` is missing, and which gates the receipts are about. */
async function reportMissing(
  { output }: Context,
  gate: string,
  receipts: readonly Verification[],
): Promise<void> {
  const about = receipts.filter((one) => one.gate === gate);
  const why = about.length > 0 ? 'no receipt was verified of' : 'there is no receipt of';
  await output.alert(
    `${output.paint('bad', 'refused:')} ${why} the gate ${output.excerpt(JSON.stringify(gate))}`,
  );
  if (about.length > 0) return;
  const names = [...new Set(receipts.flatMap((one) => one.gate ?? []))];
  const hint =
    names.length === 0
      ? 'these receipts name no gate: only rungate gate with the gates of a project file writes one'
      : instead(gate, names, `the receipts are of ${names.join(', ')}`);
  await output.alert(`  ${output.paint('dim', '→')} ${output.excerpt(hint, 500)}`);
}

async function verifyAll(
  context: Context,
  receipts: readonly Verification[],
  empty: readonly string[],
  gates: readonly string[],
): Promise<boolean> {
  const { output } = context;
  const missing = gates.filter((gate) => !receipts.some((one) => one.verified && one.gate === gate));
  const verified =
    receipts.length > 0 &&
    empty.length === 0 &&
    missing.length === 0 &&
    receipts.every((one) => one.verified);
  const data: JsonDocument<'receipt-verify'> = {
    schemaVersion: 1,
    verified,
    missing,
    receipts: receipts.map((one) => ({ file: one.path, gate: one.gate, ...verificationData(one) })),
  };
  const rows = receipts.map(({ path, gate, examination, ...one }) => {
    const failed = examination.checks.find(({ status }) => status === 'failed');
    const reason = output.excerpt(failed?.reason ?? '', 500);
    return [
      output.excerpt(path, 500),
      output.excerpt(gate ?? ''),
      one.verified ? 'passed' : 'failed',
      reason,
    ];
  });
  await output.data(data, { head: ['FILE', 'GATE', 'STATUS', 'REASON'], rows });
  for (const one of receipts) await reportVerification(context, one, `${output.excerpt(one.path, 500)}: `);
  for (const folder of empty) {
    await output.alert(
      `${output.paint('bad', 'refused:')} ${output.excerpt(folder, 500)}: the folder has no receipts`,
    );
    const hint = 'a receipt there is a file *.json; its subfolders are not read';
    await output.alert(`  ${output.paint('dim', '→')} ${hint}`);
  }
  for (const gate of missing) await reportMissing(context, gate, receipts);
  return verified;
}

/** `rungate receipt verify`: returns exit code 0 if every receipt passes every check and no gate is missing, otherwise 1. */
export async function verifyReceiptCommand(
  context: Context,
  files: readonly string[],
  flags: VerifyFlags,
): Promise<number> {
  const { io } = context;
  const expected = { ...(await demandsOf(io, flags)), now: io.clock.now() };
  const gates = [...new Set(flags.gate)];
  for (const gate of gates) filled('--gate', gate);
  const keys = await readKeys(context, flags.key);
  const { paths, empty, hasFolder } = namedReceipts(io, files);
  const receipts: Verification[] = [];
  for (const path of paths) receipts.push(await verificationOf(io, path, expected, keys));
  const [only, ...others] = receipts;
  const isOne = only !== undefined && others.length === 0 && !hasFolder && gates.length === 0;
  const verified = isOne ? await verifyOne(context, only) : await verifyAll(context, receipts, empty, gates);
  return verified ? exitCodes.ok : exitCodes.failed;
}
