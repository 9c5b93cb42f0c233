import { join } from 'node:path';
import { runFacts } from '../../ci/context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { PlanNode } from '../../gate/plan/graph.ts';
import { type PlannedGate, unnamed } from '../../gate/plan/plan.ts';
import type { GateReport } from '../../gate/result-types.ts';
import type { Io } from '../../host/io.ts';
import type { EndEvent, Reporter } from '../../library/reporter.ts';
import { renderJson } from '../../output/json.ts';
import { ReceiptError } from '../../receipt/error.ts';
import { type GateFacts, gateStatement, receiptOf } from '../../receipt/gate-statement.ts';
import { type Key, readPrivateKey } from '../../receipt/keys.ts';
import { wholeCommit } from '../../receipt/statement.ts';
import { artifactsOf, artifactText } from '../../subject.ts';
import { bareUrl } from '../../transport/address.ts';
import { buildContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { warnIfExposed } from '../secret-files.ts';
import { isReceipt, textOf } from './older-files.ts';
import { checkFiles, remedyFor, whyOf } from './reports.ts';

/** Removes the receipt of an earlier gate. `--receipt ci.key` must not remove the key. */
function removeOld({ io, output }: Context, path: string): void {
  const text = textOf(io, path);
  if (text !== null && text !== '' && !isReceipt(text))
    throw new ConfigError(`${output.excerpt(path)} exists and is not a receipt`, {
      hint: 'name another file, or remove this one',
    });
  try {
    io.removeFile(path);
  } catch (cause) {
    const why = whyOf(cause, output);
    throw new ConfigError(`the old receipt ${output.excerpt(path)} cannot be removed: ${why}`, {
      hint: remedyFor(cause),
      cause,
    });
  }
}

/** Returns the key that signs, or null if there is none. Warns if other users may read its file. */
async function signingKey(context: Context): Promise<Key | null> {
  const { io, settings } = context;
  const { receiptKey } = settings;
  if (receiptKey === undefined) return null;
  const variable = receiptKey.detail ?? 'RUNGATE_RECEIPT_KEY';
  const file = variable.endsWith('_FILE') ? io.env[variable] : undefined;
  if (file !== undefined) await warnIfExposed(context, file);
  try {
    return readPrivateKey(receiptKey.value);
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    throw new ConfigError(`${variable} contains no key for receipts: ${error.message}`, { hint: error.hint });
  }
}

/** Returns the report of a gate; null if it never began. */
function reportOf({ report, runs }: EndEvent, gate: string): GateReport | null {
  if (!('gates' in report)) return runs();
  const entry = report.gates.find(({ name }) => name === gate);
  if (entry === undefined || entry.result === 'skipped') return null;
  const { deployed, interruptedBy, exitCode } = report;
  return {
    schemaVersion: 1,
    result: entry.result,
    exitCode: entry.exitCode ?? exitCode,
    runs: entry.runs,
    ...(deployed !== undefined && { deployed }),
    ...(interruptedBy !== undefined && { interruptedBy }),
  };
}

/** Returns the facts that are known before the gate begins. @throws UsageError without a whole commit */
async function factsOf(context: Context, { name, rules, start }: PlannedGate) {
  const { settings } = context;
  const build = start === undefined ? runFacts(await buildContext(context)) : start.body;
  const { preview } = start ?? {};
  if (wholeCommit(build.commitSha) === null) {
    const problem = build.commitSha
      ? `"${build.commitSha}" is not a full commit hash`
      : 'neither CI nor git says which commit this is';
    throw new UsageError(`--receipt: ${problem}`, {
      hint: 'a receipt names one commit by its full hash, 40 or 64 hex digits: run the gate in the working copy, or give --commit-sha <sha>',
    });
  }
  return {
    // Another job may have started existing runs, so their environment is unknown.
    build: { ...build, ...(preview !== undefined && { baseUrl: bareUrl(preview.baseUrl) }) },
    subjects: artifactsOf(settings['receipt.subjects']?.value),
    gate: name === unnamed ? undefined : name,
    apiUrl: settings.apiUrl?.value ?? '',
    policy: rules.policy,
  };
}

/** Writes the receipt of a gate that has ended. Returns whether it did. */
async function write(
  { io, output }: Context,
  path: string,
  key: Key | null,
  event: EndEvent,
  facts: GateFacts,
): Promise<boolean> {
  const shown = output.excerpt(path);
  const report = reportOf(event, facts.gate ?? unnamed);
  const statement = report && gateStatement(report, facts, output.redact);
  if (statement === null) {
    const why = report === null ? 'the gate was skipped' : 'a run has no verdict';
    await output.alert(`no receipt was written to ${shown}: ${why}`);
    return false;
  }
  try {
    io.writeFile(path, renderJson(receiptOf(statement, key), key === null ? 2 : 0));
  } catch (error) {
    const what = `the receipt ${shown} could not be written: ${whyOf(error, output)}`;
    await output.fault(what, remedyFor(error));
    // It fails a passing gate. A failing gate keeps its exit code.
    event.exitCode ||= exitCodes.config;
    return false;
  }
  const named = output.excerpt(facts.subjects.map(artifactText).join(', '), 500);
  const about = named === '' ? '' : ` about ${named}`;
  if (key === null)
    await output.alert(`the receipt ${shown} has no signature: RUNGATE_RECEIPT_KEY is not set`);
  else await output.note(`wrote the receipt ${shown}${about}, signed with the key ${key.id}`);
  if (statement.predicate.result === 'WARNED')
    await output.alert(`the receipt ${shown} is WARNED: receipt verify needs --allow-warned to accept it`);
  return true;
}

function isFolder(io: Io, path: string, isNamed: boolean): boolean {
  try {
    return /[/\\]$/.test(path) || io.namesInFolder(path) !== null;
  } catch {
    // It cannot be read: the error of the file or the folder that is then written says why.
    return isNamed;
  }
}

/**
 * Returns the file of each gate: the path itself, or `<gate>.json` in a folder for gates of the project file.
 * @throws ConfigError or UsageError if two gates, or an unnamed one and a folder, would have the same
 */
function receiptFiles({ io, output }: Context, path: string, names: readonly string[]) {
  const shown = output.excerpt(path);
  if (!isFolder(io, path, !names.includes(unnamed))) {
    if (names.length === 1) return () => path;
    throw new UsageError(`--receipt: ${names.length} gates cannot write one file`, {
      hint: `give a folder, in which each gate writes its own: --receipt ${shown}/`,
    });
  }
  if (names.includes(unnamed))
    throw new UsageError(`--receipt: ${shown} is a folder`, {
      hint: 'name a file: a folder is for the gates of a project file',
    });
  const same = (name: string) => (other: string) => other.toLowerCase() === name.toLowerCase();
  for (const [at, name] of names.entries()) {
    const other = names.slice(0, at).find(same(name));
    if (other !== undefined)
      throw new ConfigError(
        `--receipt: the receipts of the gates ${other} and ${name} are one file on a file system that ignores case`,
        { hint: 'rename the gate' },
      );
  }
  return (name: string) => join(path, `${name}.json`);
}

/**
 * Removes the older receipts of gates. The result checks everything that the new ones need, before anything is sent, and returns
 * the reporter that writes them.
 * @throws ConfigError or UsageError
 */
export function replaceReceipts(context: Context, chosen: readonly PlanNode[]) {
  const { receipt: path, dryRun } = context.flags;
  if (path === undefined || dryRun === true) return undefined;
  const names = chosen.map(({ name }) => name);
  const fileOf = receiptFiles(context, path, names);
  for (const name of names) removeOld(context, fileOf(name));
  return async (now: Context, gates: readonly PlannedGate[], begun: boolean): Promise<Reporter> => {
    const files: [string, GateFacts][] = [];
    for (const gate of gates) files.push([fileOf(gate.name), await factsOf(now, gate)]);
    const paths = files.map(([file]) => file);
    await checkFiles(now, 'receipt', paths, begun);
    const key = await signingKey(now);
    return {
      async end(event) {
        if (event.error !== null) return;
        for (const [file, facts] of files)
          if (await write(now, file, key, event, facts)) event.receipt = path;
      },
    };
  };
}
