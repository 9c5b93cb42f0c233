import { type Action, resolvePolicy } from '../gate/policy.ts';
import { type Verdict, verdicts } from '../gate/verdict.ts';
import type { Setting, Settings } from './names.ts';

/** Returns what the gate does about each verdict, and which source decided it. */
export function policyOf({ strict, on }: Settings): Readonly<Record<Verdict, Setting<Action>>> {
  const policy = resolvePolicy({ strict: strict?.value, on: on?.value });
  const entries = verdicts.map((verdict): [Verdict, Setting<Action>] => {
    const bySwitch = verdict === 'cancelled' ? strict : undefined;
    const { origin, detail } = on?.parts[verdict] ?? bySwitch ?? { origin: 'default', detail: undefined };
    return [verdict, { value: policy[verdict], origin, detail }];
  });
  return Object.fromEntries(entries) as Record<Verdict, Setting<Action>>;
}
