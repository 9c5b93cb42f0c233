import type { CiContext } from '../../ci/context.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { selected } from '../../gate/plan/graph.ts';
import { echoed, instead } from '../../suggest.ts';
import type { GateSettings } from '../config/sources.ts';
import type { Context } from '../context.ts';
import { commandKeys } from './idempotency-key.ts';
import type { CommandGate } from './open-gate.ts';
import { type TriggerFlags, triggerBody } from './trigger.ts';
import { waitRules } from './wait-flags.ts';

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
