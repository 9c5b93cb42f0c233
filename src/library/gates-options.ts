import * as z from 'zod/mini';
import * as option from '../client/check-options.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import type { Rules } from '../gate/limits.ts';
import { gateName, gateNameHint, type PlanNode, problemIn } from '../gate/plan/graph.ts';
import type { GatesEvent } from '../gate/plan/plan.ts';
import { type GateOverrides, type Overrides, remainingOverrides } from '../gate/policy.ts';
import type { LibraryOptions } from '../options/library-options.ts';
import { echoed } from '../suggest.ts';
import {
  gateRules,
  type RuleOptions,
  ruleShape,
  type SharedGateOptions,
  sharedShape,
  triggerOption,
} from './gate-options.ts';

/** The options of one of several gates. Those that it leaves out are those of `gates`. */
export interface NamedGate extends RuleOptions, Pick<LibraryOptions, 'needs' | 'advisory'> {
  /** The run to start. */
  trigger: TriggerBody;
}

/** The options of several gates. `strict`, `on`, the limits and `retries` are defaults for each of them. */
export interface GatesOptions extends SharedGateOptions, Pick<LibraryOptions, 'failFast'> {
  /** The gates by name: up to 64 letters, digits, dots, hyphens and underscores. */
  gates: Readonly<Record<string, NamedGate>>;
  /** Receives each event as it happens, with the name of its gate. If it throws or rejects, all gates stop, and `gates` throws the error. */
  onProgress?: ((event: GatesEvent) => void) | undefined;
}

const namedGate = option.optionsOf<NamedGate>({
  ...ruleShape,
  trigger: triggerOption,
  ...option.rowShape('', ['needs', 'advisory']),
});

export const gatesOptions = option.optionsOf<GatesOptions>({
  ...sharedShape,
  // Each gate is checked by itself, so that an error can name it.
  gates: option.plain(
    z.custom<GatesOptions['gates']>(),
    'expected an object of gates by name: { api: { trigger } }',
  ),
  ...option.rowShape('', ['failFast']),
  onProgress: z.optional(option.func<NonNullable<GatesOptions['onProgress']>>()),
});

/** A gate with its place in the order and its rules. */
export interface CheckedGate extends PlanNode {
  rules: Rules;
  trigger: TriggerBody;
  preview: RuleOptions['preview'];
}

/** Calls the function; its usage errors name the gate. */
export function inGate<T>(name: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof UsageError) error.message = `gate ${name}: ${error.message}`;
    throw error;
  }
}

const set = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

function checkGate(all: option.Checked<GatesOptions>, name: string, given: NamedGate): CheckedGate {
  if (!gateName.test(name))
    throw new UsageError(`${echoed(name)} is not the name of a gate`, { hint: gateNameHint });
  const own = set(option.checkOptions(namedGate, given, `gate ${name}`));
  return inGate(name, () => {
    const { trigger, needs = [], advisory = false, strict } = own;
    const on = set((own.on ?? {}) as Overrides);
    const rest = remainingOverrides(set((all.on ?? {}) as Overrides), { strict, on });
    const { gates: _, failFast, onProgress, ...shared } = all;
    const options = { ...shared, ...own, on: { ...rest, ...on } as GateOverrides };
    return { name, needs, advisory, rules: gateRules(options), trigger, preview: options.preview };
  });
}

/** The rules do not change with the caller's objects. @throws UsageError for a mistake, before anything is sent */
export function checkedGates(options: option.Checked<GatesOptions>): CheckedGate[] {
  const checked = Object.entries(options.gates).map(([name, gate]) => checkGate(options, name, gate));
  if (checked.length === 0) throw new UsageError('gates is empty: give at least one gate');
  const problem = problemIn(checked);
  if (problem !== null) throw new UsageError(problem.message, { hint: problem.hint });
  return checked;
}
