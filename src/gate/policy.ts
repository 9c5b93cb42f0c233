import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit.ts';
import { echoed, instead } from '../suggest.ts';

export const verdicts = [
  'passed',
  'flaky',
  'failed',
  'blocked',
  'cancelled',
  'timeout',
  'unobserved',
  'mismatch',
] as const;

/**
 * The verdict on a run. `flaky`: it passed, but an earlier run of the gate had failed (`retries`). `timeout`: it was still going at the deadline. `unobserved`: its state, or the deployed build that it
 * tested, could not be read. `mismatch`: it did not test the expected build, or not only that. None of these says what the
 * expected build does.
 */
export type Verdict = (typeof verdicts)[number];

export interface EndedRun {
  state: 'completed' | 'cancelled';
  failed: number;
  blocked: number;
}

/** The API's gate rule. */
export function verdictOf(run: EndedRun): Exclude<Verdict, 'flaky' | 'timeout' | 'unobserved' | 'mismatch'> {
  if (run.failed > 0) return 'failed';
  if (run.blocked > 0) return 'blocked';
  return run.state === 'cancelled' ? 'cancelled' : 'passed';
}

export const actions = ['pass', 'warn', 'fail'] as const;
/** The action of the gate on a verdict. `warn` lets the pipeline continue, with a warning. */
export type Action = (typeof actions)[number];

export const results = [...actions, 'waiting'] as const;
/** The result of a gate: an action, or `waiting` if a slice (`--slice`) ended before the gate did. */
export type Result = (typeof results)[number];

export type Policy = Readonly<Record<Verdict, Action>>;
export type Overrides = Readonly<Partial<Record<Verdict, Action>>>;

/**
 * Overrides of the gate's action for a verdict: `pass`, `warn` or `fail`. An unknown result never passes the gate: `timeout`,
 * `unobserved` and `mismatch` may be a warning, but not a pass.
 */
export interface GateOverrides {
  /** The run passed, but an earlier one of the gate had failed (`retries`); default `warn`. */
  flaky?: Action | undefined;
  /** The run has failed items; default `fail`. */
  failed?: Action | undefined;
  /** The run has blocked items; default `fail`. */
  blocked?: Action | undefined;
  /** The run was cancelled; default `fail`, or `warn` without `strict`. */
  cancelled?: Action | undefined;
  /** The run was still going at the deadline; default `fail`. */
  timeout?: 'warn' | 'fail' | undefined;
  /** The run's state, or the deployed build, could not be read; default `fail`. */
  unobserved?: 'warn' | 'fail' | undefined;
  /** The run did not test the expected build, or not only that; default `fail`. */
  mismatch?: 'warn' | 'fail' | undefined;
}

/**
 * The API's gate rule only counts failed and blocked items. A cancelled run may not have tested anything, so it is a
 * warning, and a failure with `--strict`.
 */
const defaults: Policy = {
  passed: 'pass',
  // The build has passed once, and failed once.
  flaky: 'warn',
  failed: 'fail',
  blocked: 'fail',
  cancelled: 'warn',
  timeout: 'fail',
  unobserved: 'fail',
  mismatch: 'fail',
};

/** The policy settings of one source. `strict` only sets `cancelled`, and `on` overrides it. */
export interface PolicySource {
  readonly strict?: boolean | undefined;
  readonly on?: Overrides | undefined;
}

export function resolvePolicy({ strict, on }: PolicySource = {}): Policy {
  return { ...defaults, ...(strict === true ? { cancelled: 'fail' } : {}), ...on };
}

/** The judgement on a run, as reports contain it. `verdict` is null without one. */
interface Judgement {
  verdict: Verdict | null;
  action: Result;
}

/** An advisory gate warns where another one fails. */
export const advised = (action: Result): Result => (action === 'fail' ? 'warn' : action);

/** Judges a verdict. No other code turns one into an action. A run without a verdict fails the gate. */
export const judge = (verdict: Verdict | null, policy: Policy): Judgement => ({
  verdict,
  action: verdict === null ? 'fail' : policy[verdict],
});

/**
 * Returns how every output and report shows a run: as `pass` only for the verdict `passed`. Any other verdict that the policy
 * lets pass is shown as a warning. No other code decides whether a run is clean.
 */
export function shownAs({ verdict, action }: Judgement): Result {
  return action === 'pass' && verdict !== 'passed' ? 'warn' : action;
}

/** The worst first. Without a failure, the result is open as long as something goes on. */
const severity: readonly Result[] = ['fail', 'waiting', 'warn', 'pass'];
/** Returns a negative number if the first result is worse than the second, and 0 if they are the same. */
export const bySeverity = (one: Result, other: Result) => severity.indexOf(one) - severity.indexOf(other);
export const worst = (all: readonly Result[]): Result =>
  severity.find((result) => all.includes(result)) ?? 'pass';

/** The exit codes of a gate that fails on a verdict. An unobserved run has that of its error. */
export const codesOf: Readonly<Record<Verdict, readonly [number, ...number[]]>> = {
  passed: [exitCodes.failed],
  flaky: [exitCodes.failed],
  failed: [exitCodes.failed],
  blocked: [exitCodes.blocked],
  cancelled: [exitCodes.cancelled],
  timeout: [exitCodes.timeout],
  unobserved: [exitCodes.service, exitCodes.credentials, exitCodes.unreachable],
  mismatch: [exitCodes.mismatch],
};

/** Returns the overrides of a weaker source for the verdicts that a stronger one does not set. */
export function remainingOverrides(weaker: Overrides, { strict, on = {} }: PolicySource): Overrides {
  const set = new Set([...Object.keys(on), ...(strict === undefined ? [] : ['cancelled'])]);
  return Object.fromEntries(Object.entries(weaker).filter(([verdict]) => !set.has(verdict)));
}

/** The verdicts that cannot pass: none of them is a result of the expected build. */
const neverPass: readonly Verdict[] = ['timeout', 'unobserved', 'mismatch'];

export const settableVerdicts = verdicts.filter((verdict) => verdict !== 'passed');

export const actionsFor = (verdict: Verdict) =>
  actions.filter((action) => action !== 'pass' || !neverPass.includes(verdict));

function isOneOf<const T extends string>(values: readonly T[], value: string): value is T {
  return (values as readonly string[]).includes(value);
}

export function checkOverride(verdict: string, action: Action): [Verdict, Action] {
  if (!isOneOf(verdicts, verdict)) {
    throw new UsageError(`unknown verdict ${echoed(verdict)}`, {
      hint: instead(verdict, settableVerdicts),
    });
  }
  if (verdict === 'passed') {
    throw new UsageError('the action for passed cannot be set: a passed run always passes the gate');
  }
  if (!actionsFor(verdict).includes(action)) {
    const meaning = verdict === 'mismatch' ? 'another build was tested' : 'the outcome is unknown';
    throw new UsageError(`${verdict} cannot pass: it means that ${meaning}`, {
      hint: `set ${verdict} to warn, which lets the pipeline continue with a warning`,
    });
  }
  return [verdict, action];
}
