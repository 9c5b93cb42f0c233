import type { CiContext } from '../../ci/context.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { inOrder, selected } from '../../gate/plan/graph.ts';
import type { Start } from '../../gate/start.ts';
import { echoed, instead } from '../../suggest.ts';
import { ciContext } from '../ci-context.ts';
import type { GateSettings } from '../config/sources.ts';
import type { Context } from '../context.ts';
import { type CommandGate, runGates } from './open-gate.ts';
import { commandKeys, type TriggerFlags, triggerBody } from './trigger.ts';
import { waitRules } from './wait-flags.ts';

export async function gatesCommand(
  context: Context,
  names: readonly string[],
  flags: GatesFlags,
): Promise<number> {
  if (flags.receipt !== undefined) {
    throw new UsageError('--receipt has no effect with several gates: a receipt is for one gate', {
      hint: 'run the gate that needs a receipt by itself: rungate run trigger --wait --receipt <file>',
    });
  }
  const chosen = selectGates(context, names);
  const plan = inOrder(await planGates(context, chosen, flags, await ciContext(context.io)));
  if (flags.dryRun === true) return printPlan(context, plan);

  return runGates(context, plan, flags);
}

async function printPlan({ output }: Context, plan: readonly CommandGate[]): Promise<number> {
  const gates = plan.map(({ name, needs, advisory, start }) => {
    const { body, keys } = start as Start;
    // A random key is made again when the gate runs.
    const [{ key, how, origin } = { key: '', how: '', origin: 'random' }] = keys;
    return { name, needs, advisory, body, idempotencyKey: origin === 'random' ? null : key, keyOrigin: how };
  });
  const rows = gates.map(({ name, needs, advisory, body, idempotencyKey, keyOrigin }) => [
    advisory ? `${name} (advisory)` : name,
    needs.join(', '),
    JSON.stringify(body),
    idempotencyKey ?? keyOrigin,
  ]);
  await output.data(
    { schemaVersion: 1, gates },
    { head: ['gate', 'needs', 'body', 'idempotency key'], rows },
  );
  return exitCodes.ok;
}

/** The options of `run gates`: those of `run trigger` that apply to every gate. */
export interface GatesFlags extends Omit<TriggerFlags, 'process' | 'tag' | 'wait' | 'idempotencyKey'> {
  failFast?: boolean;
  dryRun?: boolean;
}

/** Adds the gates that they need; without names, all gates. @throws UsageError if that is none */
export function selectGates({ sources, io }: Context, names: readonly string[]): GateSettings[] {
  const { gates, projectFile } = sources;
  if (gates.length === 0) {
    const init = 'rungate init --gates <slugs>';
    if (projectFile === null)
      throw new UsageError(`no gates to run: no .rungate.json was found from ${io.cwd}`, {
        hint: `to write one with a gate for each process: ${init}`,
      });
    throw new UsageError('no gates to run: the project file names none', {
      hint: `write "gates" into ${projectFile}, or add a gate for each process: ${init} --force`,
    });
  }
  const known = gates.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const hint =
      name === 'all'
        ? 'without names, all gates run'
        : name.includes(',')
          ? 'separate the names with spaces'
          : /\s/.test(name)
            ? 'write each name as its own argument, or in the action on its own line'
            : instead(name, known);
    throw new UsageError(`${echoed(name)} is not one of the gates`, { hint });
  }
  return selected(gates, names);
}

/** Returns the create request of a gate. @throws ConfigError if it has nothing to run */
function gateBody({ name, place, settings }: GateSettings, ci: CiContext): TriggerBody {
  const { project, process, tags } = settings;
  const missing =
    project === undefined ? 'project' : (process ?? tags) === undefined ? 'process or tags' : null;
  if (missing !== null) {
    throw new ConfigError(`${place}: gate ${name} has no ${missing} to run`, {
      hint: `write ${missing === 'project' ? '"project"' : '"process" or "tags"'} into the gate, or at the top level of the file for all gates`,
    });
  }
  return triggerBody(settings, ci);
}

/** Keys differ by the gate's name: two gates may have the same body. @throws ConfigError or UsageError before anything is sent */
export async function planGates(
  context: Context,
  gates: readonly GateSettings[],
  flags: GatesFlags,
  ci: CiContext,
): Promise<CommandGate[]> {
  const salt = flags.idempotencySalt;
  const bodies = gates.map((gate) => gateBody(gate, ci));
  const planned: CommandGate[] = [];
  for (const [at, { name, needs, advisory, settings }] of gates.entries()) {
    const retries = settings.retries?.value;
    const own = { idempotencySalt: [salt, `gate ${name}`].filter(Boolean).join(', '), retries };
    if (flags.explainKey === true) await context.output.alert(`gate ${name}:`);
    const body = bodies[at] as TriggerBody;
    const { keys, journal } = await commandKeys(context, { ...flags, ...own }, body, ci);
    const start = { body, keys, idPointer: context.settings['run.idPointer']?.value };
    planned.push({ name, needs, advisory, settings, start, journal, ...waitRules(settings) });
  }
  return planned;
}
