import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import { gateName, gateNameHint, type PlanNode, problemIn } from '../gate/plan/graph.ts';
import type { GatesEvent } from '../gate/plan/run-gates.ts';
import { type Overrides, remainingOverrides } from '../gate/policy.ts';
import { ownCopy } from '../own-options.ts';
import { echoed } from '../suggest.ts';
import {
  checkTrigger,
  type GateOptions,
  type GateOverrides,
  gateRules,
  ownGateOptions,
} from './gate-options.ts';

/** The options of one of several gates. Those that it leaves out are those of `gates`. */
export interface NamedGate
  extends Pick<GateOptions, 'strict' | 'on' | 'intervalMs' | 'timeoutMs' | 'maxAttempts' | 'retries'> {
  /** The run to start (interface, section 2.5). */
  trigger: TriggerBody;
  /** The gates that must pass, or pass with a warning, before this one starts; default none. */
  needs?: readonly string[] | undefined;
  /** Whether the gate can warn at most; default false. No other gate may need it. */
  advisory?: boolean | undefined;
}

/** The options of several gates. `strict`, `on`, the limits and `retries` are defaults for each of them. */
export interface GatesOptions
  extends Omit<GateOptions, 'trigger' | 'runIds' | 'idempotencyKey' | 'onProgress'> {
  /** The gates by name: up to 64 letters, digits, dots, hyphens and underscores. */
  gates: Readonly<Record<string, NamedGate>>;
  /** Whether the first gate that fails cancels the others; default false. */
  failFast?: boolean | undefined;
  /** Receives each event as it happens, with the name of its gate. If it throws, all gates stop, and `gates` throws the error. */
  onProgress?: ((event: GatesEvent) => void) | undefined;
}

/** A gate with its place in the order and its rules. */
export interface CheckedGate extends PlanNode, ReturnType<typeof gateRules> {
  trigger: TriggerBody;
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

/** Returns the options that are set. */
const set = <T extends object>(options: T) =>
  ownCopy(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))) as T;

function checkGate(all: GateOptions, name: string, given: NamedGate): CheckedGate {
  if (!gateName.test(name))
    throw new UsageError(`${echoed(name)} is not the name of a gate`, { hint: gateNameHint });
  return inGate(name, () => {
    const own = set(ownGateOptions(given));
    const { trigger, needs = [], advisory = false, strict } = own;
    checkTrigger(trigger);
    if (!Array.isArray(needs) || [...needs].some((need) => typeof need !== 'string'))
      throw new UsageError('needs must be a list of names of gates');
    if (typeof advisory !== 'boolean') throw new UsageError('advisory must be true or false');
    const on = set((own.on ?? {}) as Overrides);
    const rest = remainingOverrides(set((all.on ?? {}) as Overrides), { strict, on });
    const options = ownCopy({ ...all, ...own, on: { ...rest, ...on } as GateOverrides });
    if (options.idempotencyKey !== undefined)
      throw new UsageError('idempotencyKey is only for a single gate', {
        hint: 'leave it out: each gate has its own key, which idempotencySalt changes',
      });
    return { name, needs: [...needs], advisory, ...gateRules(options), trigger: structuredClone(trigger) };
  });
}

/** Returns whether only its own keys count. A list has no names, and `__proto__` in a literal is not a key: its gate would never run. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Returns the gates with their rules, which do not change with the caller's objects.
 * @throws UsageError if an option is invalid or the needs have a mistake, before anything is sent
 */
export function checkedGates(options: GatesOptions): CheckedGate[] {
  const { gates } = options;
  if (!isPlain(gates)) throw new UsageError('gates must be an object of gates by name: { api: { trigger } }');
  const checked = Object.entries(gates).map(([name, gate]) => checkGate(options as never, name, gate));
  if (checked.length === 0) throw new UsageError('gates is empty: give at least one gate');
  const problem = problemIn(checked);
  if (problem !== null) throw new UsageError(problem.message, { hint: problem.hint });
  return checked;
}
