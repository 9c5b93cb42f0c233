import { resolve } from 'node:path';
import { parseDuration } from '../../duration.ts';
import { StoppedError, type StopSignal, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { policyOf } from '../../settings/merge.ts';
import type { Settings } from '../../settings/names.ts';
import type { Context } from '../context.ts';
import { oneOf } from '../global-options.ts';
import { writeShims } from './environment.ts';
import { plainScript } from './hints.ts';
import { judge, looksStrict } from './judge.ts';
import { printJudgements, tellStep } from './report.ts';
import { expectations, type Scenario, type StepResult, scenarioNames, scenarios } from './scenarios.ts';
import { runStep, type Stand } from './step.ts';

export interface SelftestFlags {
  cancelled?: string;
  scenario?: string[];
  timeLimit?: string;
  parallel?: string;
}

const usualLimitMs = 60_000;

function parallelism(text: string | undefined): number {
  const value = text === undefined ? 1 : /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new UsageError(`--parallel: "${text}" is not a number of scenarios`, {
    hint: 'write a whole number from 1 up',
  });
}

/** More of a script than this is not looked at. */
const scriptBytes = 64 * 1024;

/** What the words of the command name, where it is a script; nothing where it is not a text. */
async function readScript(io: Io, word: string): Promise<string> {
  // What is no regular file could be read for ever.
  if (word.startsWith('-') || /\s|^\/(?:dev|proc)\//.test(word)) return '';
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of io.streamFile(resolve(io.cwd, word))) {
      parts.push(new Uint8Array(part));
      size += part.length;
      if (size >= scriptBytes) break;
    }
  } catch {
    return '';
  }
  const text = new TextDecoder().decode(Buffer.concat(parts).subarray(0, scriptBytes));
  return text.includes('\0') ? '' : text;
}

/** The text of the step, as far as it can be seen: its words, and the scripts that they name. */
async function stepText(io: Io, command: readonly string[]): Promise<string> {
  const scripts = await Promise.all(command.map((word) => readScript(io, word)));
  // The name of a script that can be read says nothing: it may be called or-true.sh.
  const words = command.filter((_, index) => scripts[index] === '');
  return plainScript([words.join(' '), ...scripts].join('\n'));
}

/** The scenarios that were asked for, in their usual order, with what is expected of this step. */
function chosen(flags: SelftestFlags, text: string, settings: Settings): Scenario[] {
  const names = flags.scenario?.map((name) => oneOf('--scenario', scenarioNames, name));
  const usual = looksStrict(text, policyOf(settings).cancelled.value) ? 'red' : 'any';
  const cancelled =
    flags.cancelled === undefined ? usual : oneOf('--cancelled', expectations, flags.cancelled);
  return scenarios
    .filter(({ name }) => names?.includes(name) ?? true)
    .map((scenario) => (scenario.name === 'cancelled' ? { ...scenario, expected: cancelled } : scenario));
}

/** Runs the step in every scenario, so many at a time; the results are in the scenarios' order. */
async function runAll(
  stand: Omit<Stand, 'signal'>,
  list: readonly Scenario[],
  parallel: number,
  stop: AbortController,
  tell: (result: StepResult) => Promise<void>,
): Promise<StepResult[]> {
  const { signal } = stop;
  const results: StepResult[] = [];
  const waiting = [...list.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const [index, scenario] = next;
      const result = await runStep({ ...stand, signal }, scenario);
      if (signal.aborted) return;
      results[index] = result;
      await tell(result);
    }
  };
  // Whatever goes wrong with one ends the others, and is only told when all have ended.
  const workers = Array.from({ length: Math.min(parallel, list.length) }, () =>
    work().catch((error) => stop.abort(error)),
  );
  await Promise.all(workers);
  signal.throwIfAborted();
  return results;
}

/** `rungate selftest -- <command…>`: 0 when the step is right, 1 when a scenario says that it is not. */
export async function selftestCommand(
  context: Context,
  command: readonly string[],
  flags: SelftestFlags,
): Promise<number> {
  const { io, output } = context;
  const limitMs =
    flags.timeLimit === undefined ? usualLimitMs : parseDuration('--time-limit', flags.timeLimit);
  const parallel = parallelism(flags.parallel);
  const text = await stepText(io, command);
  const list = chosen(flags, text, context.settings);
  const stop = new AbortController();
  const unsubscribe = io.onStop((signal: StopSignal) => stop.abort(new StoppedError(signal)));
  const folder = io.temporaryFolder();
  try {
    const shims = writeShims(folder, io.program);
    const stand = { io, command, folder, shims, limitMs };
    const ran = runAll(stand, list, parallel, stop, (result) => tellStep(output, result));
    const results = await output.motion.during('running the step in each scenario', ran);
    const judgements = judge(text, policyOf(context.settings), results);
    await printJudgements(output, judgements);
    return judgements.every(({ ok }) => ok) ? exitCodes.ok : exitCodes.failed;
  } finally {
    unsubscribe();
    if (!folder.remove()) await output.alert(`not all of ${folder.path} could be removed`);
  }
}
