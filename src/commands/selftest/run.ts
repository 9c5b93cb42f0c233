import { resolve } from 'node:path';
import { parseDuration } from '../../duration.ts';
import { StoppedError, type StopSignal } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { policySettings } from '../../settings/merge.ts';
import type { GateSettings } from '../config/sources.ts';
import type { Context } from '../context.ts';
import { numberUpTo, oneOf } from '../options.ts';
import { command, type FlagsOf, repeatable } from '../spec.ts';
import { normaliseScript } from './hints.ts';
import { judgeSteps, looksStrict, retriesIn } from './judge.ts';
import { printJudgements, reportStep } from './report.ts';
import {
  expectations,
  type Scenario,
  type StepResult,
  scenarioNames,
  scenarios,
  selectorOf,
} from './scenarios.ts';
import { runScenario, type StepSetup, writeShims } from './step.ts';

const options = {
  '--cancelled <colour>': {
    help: `the expected result for a cancelled run: ${expectations.join(', ')} (default: red for a strict step, otherwise any)`,
    completes: expectations,
  },
  '--scenario <name>': repeatable(`${scenarioNames.join(', ')} (repeatable; default: all)`, scenarioNames),
  '--time-limit <duration>':
    'stop the step in each scenario after this time; its verdict is then unknown (default 60s)',
  '--parallel <n>': 'the number of scenarios to run at the same time (default 1)',
} as const;
type SelftestFlags = FlagsOf<typeof options>;

const usualLimitMs = 60_000;

const scriptBytes = 64 * 1024;

function readScript(io: Io, argument: string): string {
  // Reading a device might never end.
  if (argument.startsWith('-') || /\s|^\/(?:dev|proc)\//.test(argument)) return '';
  try {
    const text = new TextDecoder().decode(io.readFile(resolve(io.cwd, argument), scriptBytes));
    return text.includes('\0') ? '' : text;
  } catch {
    return '';
  }
}

/** Returns the text of the step, as far as it is readable: its arguments and the scripts that they name. */
function stepText(io: Io, command: readonly string[]): string {
  const scripts = command.map((argument) => readScript(io, argument));
  // Leave out the names of scripts: they could match a pattern, as or-true.sh would.
  const others = command.filter((_, index) => scripts[index] === '');
  return normaliseScript([others.join(' '), ...scripts].join('\n'));
}

/** Tells whether a failure of a gate of the project file does not stop the step: it is advisory, or its policy lets it pass. */
function isPassing({ advisory, settings }: GateSettings, scenario: Scenario, text: string): boolean {
  if (advisory || scenario.service !== 'up' || scenario.verdict === 'passed') return advisory;
  const action = policySettings(settings)[scenario.verdict];
  return scenario.verdict === 'cancelled' ? !looksStrict(text, action) : action.value !== 'fail';
}

/** Returns the requested scenarios, in their usual order, with what the settings of the step say about them. */
function chosenScenarios(
  flags: SelftestFlags,
  text: string,
  { settings, sources: { gates } }: Context,
): Scenario[] {
  const names = flags.scenario?.map((name) => oneOf('--scenario', scenarioNames, name));
  const given =
    flags.cancelled === undefined ? undefined : oneOf('--cancelled', expectations, flags.cancelled);
  const all = [settings, ...gates.map((gate) => gate.settings)];
  const retries = Math.max(...all.map((one) => retriesIn(text, one.retries?.value ?? 0)));
  const wanted = scenarios.filter(({ name }) => names?.includes(name) ?? true);
  return wanted.map((scenario): Scenario => {
    // All runs of a gate with retries fail, so a later pass is that of another gate.
    const fails = scenario.name === 'failed' ? 1 + retries : 1;
    const passing = gates.filter((gate) => isPassing(gate, scenario, text));
    const isStrict =
      gates.length > 0
        ? passing.length < gates.length
        : looksStrict(text, policySettings(settings).cancelled);
    return {
      ...scenario,
      fails,
      // Several gates create several runs.
      runs: gates.length > 0 ? Number.POSITIVE_INFINITY : fails,
      passing: new Set(
        passing.map((gate) => selectorOf(gate.settings.process?.value, gate.settings.tags?.value)),
      ),
      expected: scenario.name === 'cancelled' ? (given ?? (isStrict ? 'red' : 'any')) : scenario.expected,
    };
  });
}

/** Runs the step in every scenario, up to `parallel` at a time. Returns the results in the order of the scenarios. */
async function runAll(
  setup: Omit<StepSetup, 'signal'>,
  list: readonly Scenario[],
  parallel: number,
  stop: AbortController,
  report: (result: StepResult) => Promise<void>,
): Promise<StepResult[]> {
  const { signal } = stop;
  const results: StepResult[] = [];
  const waiting = list.entries();
  const work = async () => {
    for (const [index, scenario] of waiting) {
      if (signal.aborted) return;
      const result = await runScenario({ ...setup, signal }, scenario);
      if (signal.aborted) return;
      results[index] = result;
      await report(result);
    }
  };
  // An error stops the other scenarios, and is thrown once all have ended.
  const workers = Array.from({ length: parallel }, () => work().catch((error) => stop.abort(error)));
  await Promise.all(workers);
  signal.throwIfAborted();
  return results;
}

export const selftest = command({
  name: 'selftest',
  summary: 'test a pipeline step against every outcome',
  heading: 'Gate:',
  description:
    'Run a pipeline step once for each outcome of its gate, each time against a new mock, and check that the step fails when the gate fails and passes when the gate passes. Exits with 0 if every scenario is as expected, otherwise with 1.',
  args: { '<command...>': 'the step: a script, or bash -c "…"; it runs for real, including any deployment' },
  options,
  wraps: true,
  examples: ['rungate selftest -- ./ci/gate.sh'],
  decides: true,
  async run(context, { command }, flags) {
    const { io, output } = context;
    const limitMs =
      flags.timeLimit === undefined ? usualLimitMs : parseDuration('--time-limit', flags.timeLimit);
    const parallel = numberUpTo('--parallel', flags.parallel ?? '1', 999, 1);
    const text = stepText(io, command);
    const list = chosenScenarios(flags, text, context);
    const stop = new AbortController();
    const unsubscribe = io.onStop((signal: StopSignal) => stop.abort(new StoppedError(signal)));
    const folder = io.temporaryFolder();
    try {
      const shims = writeShims(folder, io);
      const setup = { io, command, folder, shims, limitMs };
      const results = await output.motion.during(
        'running the step in each scenario',
        runAll(setup, list, parallel, stop, (result) => reportStep(output, result)),
      );
      const judgements = judgeSteps(text, policySettings(context.settings), results);
      await printJudgements(output, judgements);
      return judgements.every(({ verdict }) => verdict === 'ok') ? exitCodes.ok : exitCodes.failed;
    } finally {
      unsubscribe();
      if (!folder.remove())
        await output.alert(`the temporary folder ${folder.path} could not be removed completely`);
    }
  },
});
