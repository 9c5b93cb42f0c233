import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import type { EndEvent, Reporter } from '../../library/reporter.ts';
import { renderJson } from '../../output/json.ts';
import { ReceiptError } from '../../receipt/error.ts';
import { type BuildSource, buildFacts, receiptOf } from '../../receipt/gate-statement.ts';
import { type PrivateKey, readPrivateKey } from '../../receipt/keys.ts';
import { wholeCommit } from '../../receipt/verify.ts';
import { type Context, warnIfExposed } from '../context.ts';
import { remedyFor, whyOf } from './reports.ts';
import { waitRules } from './wait-flags.ts';

const receiptPattern = /^(?:\s*\{.*"(?:payloadType|_type)"|$)/s;

/** Tells whether a file exists that no gate has written: `--receipt ci.key` must not remove the key. */
function isForeign(io: Io, path: string): boolean {
  try {
    return io.inspect(path).isFile && !receiptPattern.test(new TextDecoder().decode(io.readFile(path)));
  } catch {
    return false;
  }
}

/** Removes the receipt of an earlier gate, which must not be taken for the one of this gate. */
function removeOld({ io, output }: Context, path: string): void {
  if (isForeign(io, path))
    throw new ConfigError(`${output.excerpt(path)} exists and is not a receipt`, {
      hint: 'name another file, or remove this one',
    });
  try {
    io.removeFile(path);
  } catch (cause) {
    throw new ConfigError(
      `the old receipt ${output.excerpt(path)} cannot be removed: ${whyOf(cause, output)}`,
      {
        hint: remedyFor(cause),
        cause,
      },
    );
  }
}

/** Returns the key that signs, or null if there is none. Warns if other users may read its file. */
async function signingKey(context: Context): Promise<PrivateKey | null> {
  const { io, settings } = context;
  const { receiptKey } = settings;
  if (receiptKey === undefined) return null;
  const variable = receiptKey.detail ?? 'RUNGATE_RECEIPT_KEY';
  const file = variable.endsWith('_FILE') ? io.env[variable] : undefined;
  if (file !== undefined) await warnIfExposed(context, file);
  try {
    return await readPrivateKey(receiptKey.value);
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    throw new ConfigError(`${variable} has no key for receipts: ${error.message}`, {
      hint: error.hint,
    });
  }
}

function wholeCommitOf(commit: string | null): string {
  const whole = wholeCommit(commit);
  if (whole !== null) return whole;
  const problem =
    commit === null
      ? 'neither the CI nor git says which commit this is'
      : `"${commit}" is not a whole commit`;
  throw new UsageError(`--receipt: ${problem}`, {
    hint: 'a receipt is about one commit of 40 or 64 hex digits: run it in the working copy, or give --commit-sha <sha>',
  });
}

/** Returns the reporter that writes the receipt. Checks everything that it needs before anything is sent. */
async function writerOf(context: Context, path: string, source: BuildSource): Promise<Reporter[]> {
  const { io, output, settings } = context;
  const build = buildFacts(source);
  const commit = wholeCommitOf(build.commit);
  const apiUrl = settings.apiUrl?.value ?? '';
  const { policy } = waitRules(settings);
  const key = await signingKey(context);
  const shown = output.excerpt(path);
  const end = async (event: EndEvent) => {
    const { error, startedAt, finishedAt } = event;
    if (error !== null) return;
    const facts = { ...build, commit, apiUrl, policy, startedAt, finishedAt };
    const receipt = await receiptOf(event.runs(), facts, key, output.redact);
    if (receipt === null) return output.alert(`no receipt was written to ${shown}: a run has no verdict`);
    try {
      io.writeFile(path, renderJson(receipt, key === null ? 2 : 0));
    } catch (error) {
      const what = `the receipt ${shown} could not be written: ${whyOf(error, output)}`;
      await output.alert(`${output.paint('bad', 'error:')} ${what}`);
      await output.alert(`  → ${remedyFor(error)}`);
      // It fails a passing gate. A failing gate keeps its exit code.
      event.exitCode ||= exitCodes.config;
      return;
    }
    event.receipt = path;
    if (key === null)
      await output.alert(`the receipt ${shown} has no signature: RUNGATE_RECEIPT_KEY is not set`);
    else await output.note(`wrote the receipt ${shown}, signed with the key ${key.id}`);
  };
  return [{ end }];
}

/** Removes an older receipt. The result checks what the new one needs, and returns its reporter. @throws ConfigError */
export function replaceReceipt(context: Context, path: string | undefined) {
  if (path === undefined) return undefined;
  removeOld(context, path);
  return (source: BuildSource) => writerOf(context, path, source);
}
