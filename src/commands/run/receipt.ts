import { join } from 'node:path';
import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import type { GateReport } from '../../gate/result-types.ts';
import type { Io } from '../../host/io.ts';
import type { EndEvent, Reporter } from '../../library/reporter.ts';
import { renderJson } from '../../output/json.ts';
import { maxBytes } from '../../receipt/dsse.ts';
import { ReceiptError } from '../../receipt/error.ts';
import {
  type BuildSource,
  buildFacts,
  type GateFacts,
  gateStatement,
  receiptOf,
} from '../../receipt/gate-statement.ts';
import { type Key, readPrivateKey } from '../../receipt/keys.ts';
import { wholeCommit } from '../../receipt/statement.ts';
import type { Settings } from '../../settings/names.ts';
import { artifactsOf, artifactText } from '../../subject.ts';
import { bareUrl } from '../../transport/address.ts';
import { type Context, warnIfExposed } from '../context.ts';
import type { CommandGate } from './command-gate.ts';
import { remedyFor, whyOf } from './reports.ts';
import { waitRules } from './wait-flags.ts';

/** An empty file, or an object with the type of an in-toto payload or statement. */
const receiptPattern =
  /^(?:\s*\{.*"(?:payloadType"\s*:\s*"application\/vnd\.in-toto\+json|_type"\s*:\s*"https:\/\/in-toto\.io\/)|$)/s;

/** Tells whether a file exists that no gate has written: `--receipt ci.key` must not remove the key. */
function isForeign(io: Io, path: string): boolean {
  try {
    return (
      io.inspect(path).isFile && !receiptPattern.test(new TextDecoder().decode(io.readFile(path, maxBytes)))
    );
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

/** A receipt to write: its gate, `unnamed` if it is the only one and has no name, and the settings and the build of the gate. */
interface Target {
  readonly gate: string;
  readonly path: string;
  readonly settings: Settings;
  readonly source: BuildSource;
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

/** The facts for the receipt of a gate that are known before it begins. */
interface Known extends Target {
  readonly shown: string;
  readonly facts: Omit<GateFacts, 'startedAt' | 'finishedAt'>;
}

function knownOf({ output, settings }: Context, target: Target): Known {
  const build = buildFacts(target.source);
  const facts = {
    ...build,
    commit: wholeCommitOf(build.commit),
    subjects: artifactsOf(settings['receipt.subjects']?.value),
    gate: target.gate === unnamed ? undefined : target.gate,
    apiUrl: settings.apiUrl?.value ?? '',
    policy: waitRules(target.settings).policy,
  };
  return { ...target, shown: output.excerpt(target.path), facts };
}

/** Writes the receipt of a gate that has ended. Tells whether it did. */
async function write(
  { io, output }: Context,
  key: Key | null,
  event: EndEvent,
  { gate, path, shown }: Known,
  facts: GateFacts,
): Promise<boolean> {
  const report = reportOf(event, gate);
  const receipt = report && receiptOf(report, facts, key, output.redact);
  if (report === null || receipt === null) {
    const why = report === null ? 'the gate was skipped' : 'a run has no verdict';
    await output.alert(`no receipt was written to ${shown}: ${why}`);
    return false;
  }
  try {
    io.writeFile(path, renderJson(receipt, key === null ? 2 : 0));
  } catch (error) {
    const what = `the receipt ${shown} could not be written: ${whyOf(error, output)}`;
    await output.alert(`${output.paint('bad', 'error:')} ${what}`);
    await output.alert(`  → ${remedyFor(error)}`);
    // It fails a passing gate. A failing gate keeps its exit code.
    event.exitCode ||= exitCodes.config;
    return false;
  }
  const named = output.excerpt(facts.subjects.map(artifactText).join(', '), 500);
  const about = named === '' ? '' : ` about ${named}`;
  if (key === null)
    await output.alert(`the receipt ${shown} has no signature: RUNGATE_RECEIPT_KEY is not set`);
  else await output.note(`wrote the receipt ${shown}${about}, signed with the key ${key.id}`);
  if (gateStatement(report, facts)?.predicate.result === 'WARNED')
    await output.alert(`the receipt ${shown} is WARNED: receipt verify needs --allow-warned to accept it`);
  return true;
}

/** Returns the reporter that writes the receipts. Checks everything that they need before anything is sent. */
async function writerOf(context: Context, path: string, targets: readonly Target[]): Promise<Reporter[]> {
  const { clock } = context.io;
  const all = targets.map((target) => knownOf(context, target));
  const key = await signingKey(context);
  const started = new Map<string, number>();
  const finished = new Map<string, number>();
  return [
    {
      triggering({ gate = unnamed }) {
        if (!started.has(gate)) started.set(gate, clock.now());
      },
      gate: ({ gate }) => void finished.set(gate, clock.now()),
      async end(event) {
        if (event.error !== null) return;
        for (const known of all) {
          const startedAt = started.get(known.gate) ?? event.startedAt;
          const finishedAt = finished.get(known.gate) ?? event.finishedAt;
          const facts = { ...known.facts, startedAt, finishedAt };
          if (await write(context, key, event, known, facts)) event.receipt = path;
        }
      },
    },
  ];
}

/** Returns the facts about the build of a gate. */
export function sourceOf({ start, preview }: CommandGate): BuildSource {
  return { ...start?.body, ...(preview !== undefined && { baseUrl: bareUrl(preview.baseUrl) }) };
}

const endsAsFolder = (path: string) => /[/\\]$/.test(path);

/** Removes an older receipt. The result checks what the new one needs, and returns its reporter. @throws ConfigError or UsageError */
export function replaceReceipt(context: Context, path: string | undefined) {
  if (path === undefined) return undefined;
  if (endsAsFolder(path))
    throw new UsageError(`--receipt: ${context.output.excerpt(path)} is a folder`, {
      hint: 'name a file: a folder is for the gates of a project file',
    });
  removeOld(context, path);
  return (now: Context, source: BuildSource) =>
    writerOf(now, path, [{ gate: unnamed, path, settings: now.settings, source }]);
}

function isFolder(io: Io, path: string): boolean {
  try {
    return endsAsFolder(path) || io.namesInFolder(path) !== null;
  } catch {
    // It exists, but cannot be read.
    return true;
  }
}

/** Refuses names of gates whose files would be one on some system. @throws ConfigError */
function checkFileNames(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined)
      throw new ConfigError(
        `--receipt: the receipts of the gates ${other} and ${name} are one file where case does not matter`,
        { hint: 'rename the gate' },
      );
    seen.set(name.toLowerCase(), name);
  }
}

/**
 * Removes the older receipts of gates of the project file. The result checks what the new ones need, and returns their reporter:
 * one file for one gate, or a folder with one `<gate>.json` for each.
 * @throws ConfigError or UsageError
 */
export function replaceReceipts(
  context: Context,
  path: string | undefined,
  gates: readonly Pick<CommandGate, 'name'>[],
) {
  if (path === undefined) return undefined;
  const folder = isFolder(context.io, path);
  if (!folder && gates.length > 1)
    throw new UsageError(`--receipt: ${gates.length} gates cannot write one file`, {
      hint: `give a folder, in which each gate writes its own: --receipt ${context.output.excerpt(path)}/`,
    });
  if (folder) checkFileNames(gates.map(({ name }) => name));
  const fileOf = (name: string) => (folder ? join(path, `${name}.json`) : path);
  for (const { name } of gates) removeOld(context, fileOf(name));
  return (now: Context, plan: readonly CommandGate[]) =>
    writerOf(
      now,
      path,
      plan.map((gate) => {
        const { name, settings } = gate;
        return { gate: name, path: fileOf(name), settings, source: sourceOf(gate) };
      }),
    );
}
