import { UsageError } from '../errors.ts';
import { echoed, instead } from '../suggest.ts';
import { type Verdict, verdicts } from './verdict.ts';

export const actions = ['pass', 'warn', 'fail'] as const;
/** What the gate does about a verdict; `warn` lets the pipeline go on and says so loudly. */
export type Action = (typeof actions)[number];

export type Policy = Readonly<Record<Verdict, Action>>;
export type Overrides = Readonly<Partial<Record<Verdict, Action>>>;

/**
 * The interface's gate rule counts only failed and blocked items, and a cancelled run has tested nothing:
 * hence a warning, which `--strict` makes a failure.
 */
const defaults: Policy = {
  passed: 'pass',
  failed: 'fail',
  blocked: 'fail',
  cancelled: 'warn',
  timeout: 'fail',
  unobserved: 'fail',
};

/** What one source says about verdicts. `strict` speaks about `cancelled` alone, and `on` beats it. */
export interface PolicySource {
  readonly strict?: boolean | undefined;
  readonly on?: Overrides | undefined;
}

/** The policy of one source over the defaults. */
export function resolvePolicy({ strict, on }: PolicySource = {}): Policy {
  return { ...defaults, ...(strict === true ? { cancelled: 'fail' } : {}), ...on };
}

/** Returns the overrides of a weaker source that a stronger one says nothing about. */
export function remainingOverrides(weaker: Overrides, { strict, on = {} }: PolicySource): Overrides {
  const spoken = new Set([...Object.keys(on), ...(strict === undefined ? [] : ['cancelled'])]);
  return Object.fromEntries(Object.entries(weaker).filter(([verdict]) => !spoken.has(verdict)));
}

/** What an override may be about. */
export const settableVerdicts = verdicts.filter((one) => one !== 'passed');

function isOneOf<const T extends string>(values: readonly T[], value: string): value is T {
  return (values as readonly string[]).includes(value);
}

/** One override, checked: unknown is never green, so `timeout` and `unobserved` cannot pass. */
export function checkOverride(verdict: string, action: string): [Verdict, Action] {
  if (!isOneOf(verdicts, verdict)) {
    throw new UsageError(`there is no verdict ${echoed(verdict)}`, {
      hint: instead(verdict, settableVerdicts),
    });
  }
  if (!isOneOf(actions, action)) {
    throw new UsageError(`${echoed(action)} is not what a gate can do about a verdict`, {
      hint: instead(action, actions),
    });
  }
  if (verdict === 'passed') {
    throw new UsageError('what happens when a run has passed cannot be set: a passed run passes the gate');
  }
  if (action === 'pass' && (verdict === 'timeout' || verdict === 'unobserved')) {
    throw new UsageError(`${verdict} cannot pass: it says that the outcome is not known`, {
      hint: `set ${verdict} to warn, which lets the pipeline go on with a warning`,
    });
  }
  return [verdict, action];
}

/** Reads `verdict=action`, as `--on` takes it. */
export function parseOverride(text: string): [Verdict, Action] {
  const [verdict = '', action, ...rest] = text.split('=');
  if (action === undefined || rest.length > 0) {
    throw new UsageError(`--on: ${echoed(text)} is not <verdict>=<action>`, {
      hint: 'write for example --on cancelled=fail; repeat --on for each verdict',
    });
  }
  return checkOverride(verdict.trim(), action.trim());
}
