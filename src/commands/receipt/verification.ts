import { formatDuration } from '../../duration.ts';
import type { Output } from '../../output/output.ts';
import type { Table } from '../../output/table.ts';
import { ageOf, type Check, type Examination } from '../../receipt/verify.ts';
import { instead } from '../../suggest.ts';
import type { Context } from '../context.ts';

export interface Verification extends Examination {
  readonly path: string;
  /** The gate that a signed receipt is about; null if it does not say. */
  readonly gate: string | null;
  readonly failures: readonly Check[];
  /** The path of the trusted key that signed, or null. */
  readonly key: string | null;
}

interface Verifications {
  readonly verified: boolean;
  readonly receipts: readonly Verification[];
  /** The required gates without a verified receipt. */
  readonly missing: readonly string[];
  readonly empty: readonly string[];
  /** Whether the command names one file, and no gate. */
  readonly isOne: boolean;
}

/** Returns the result as data. Facts of the receipt are included only if every check passed. */
const dataOf = ({ checks, failures, keyId, key, statement }: Verification) => ({
  verified: failures.length === 0,
  failed: failures[0]?.check ?? null,
  checks: checks.map(({ check, status, reason }) => ({ check, status, reason })),
  keyId,
  key,
  statement: failures.length === 0 && statement !== null ? { ...statement } : null,
});

/** Returns a table with a line for each check of the only receipt, or for each of several receipts. */
function tableOf({ excerpt }: Output, { receipts, isOne }: Verifications): Table {
  const reasonOf = (check: Check | undefined) => excerpt(check?.reason ?? '', 500);
  if (isOne)
    return {
      head: ['CHECK', 'STATUS', 'REASON'],
      rows: receipts.flatMap(({ checks }) => checks.map((one) => [one.check, one.status, reasonOf(one)])),
    };
  const rows = receipts.map(({ path, gate, failures: [first] }) => {
    const status = first === undefined ? 'passed' : 'failed';
    return [excerpt(path, 500), excerpt(gate ?? ''), status, reasonOf(first)];
  });
  return { head: ['FILE', 'GATE', 'STATUS', 'REASON'], rows };
}

/** Returns why no receipt of a required gate was verified, and a hint about the gates that have one. */
function missingGate(gate: string, receipts: readonly Verification[]): [what: string, hint?: string] {
  const names = [...new Set(receipts.flatMap((one) => one.gate ?? []))];
  const shown = JSON.stringify(gate);
  if (names.includes(gate)) return [`no receipt of the gate ${shown} was verified`];
  const hint =
    names.length === 0
      ? 'these receipts name no gate: only rungate gate records one, for the gates of a project file'
      : instead(gate, names, `the receipts are for ${names.join(', ')}`);
  return [`there is no receipt of the gate ${shown}`, hint];
}

/** Prints the result of all receipts, then a message about each receipt, empty folder and missing gate. */
export async function printVerification({ io, output }: Context, all: Verifications): Promise<void> {
  const { verified, receipts, missing, empty, isOne } = all;
  const [first] = receipts;
  const result =
    isOne && first !== undefined
      ? dataOf(first)
      : {
          verified,
          missing: [...missing],
          receipts: receipts.map((one) => ({ file: one.path, gate: one.gate, ...dataOf(one) })),
        };
  const data = { schemaVersion: 1, ...result };
  await output.data(data, tableOf(output, all));
  const text = (part: string) => output.excerpt(part, 500);
  const refuse = async (what: string, hint?: string, also: readonly string[] = []) => {
    await output.alert(`${output.paint('bad', 'refused:')} ${what}`);
    for (const line of also) await output.alert(line);
    if (hint !== undefined) await output.alert(`  ${output.paint('dim', '→')} ${text(hint)}`);
  };
  const shown = ({ reason, check }: Check) => `${text(reason ?? '')} (${check})`;
  for (const { path, failures, key, statement } of receipts) {
    const name = isOne ? '' : `${text(path)}: `;
    const [failure, ...others] = failures;
    if (failure !== undefined) {
      const also = others.map((one) => `  also: ${shown(one)}`);
      await refuse(`${name}${shown(failure)}`, failure.hint, also);
    } else if (statement !== null) {
      const age = formatDuration(Math.max(0, ageOf(statement, io.clock.now())));
      const { result } = statement.predicate;
      await output.note(
        `${output.paint('good', 'verified:')} ${name}${result}, signed with ${text(key ?? '')}, ${age} old`,
      );
    }
  }
  for (const folder of empty)
    await refuse(
      `${text(folder)}: the folder has no receipts`,
      'receipts there must be *.json files; subfolders are not read',
    );
  for (const gate of missing) {
    const [what, hint] = missingGate(gate, receipts);
    await refuse(text(what), hint);
  }
}
