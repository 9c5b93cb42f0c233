import { policySettings } from '../../settings/merge.ts';
import type { Context } from '../context.ts';
import type { ChosenGate } from '../run/plan.ts';
import { runGates } from '../run/run-gates.ts';
import type { ResumedGate } from './store.ts';

/** Runs gates that are strict unless their settings say otherwise. Returns the exit code. */
export async function runStrictly(
  context: Context,
  chosen: readonly ChosenGate[],
  resumed?: ResumedGate,
): Promise<number> {
  await sayNotStrict(context, chosen);
  return runGates(context, chosen, resumed);
}

/** Says first that a cancelled run does not fail the gate, unless the command line itself says so. */
async function sayNotStrict({ output }: Context, gates: readonly ChosenGate[]): Promise<void> {
  const bySource = new Map<string, string[]>();
  for (const gate of gates) {
    const { value, origin, detail } = policySettings(gate.settings).cancelled;
    if (value === 'fail' || origin === 'flag') continue;
    const source = detail ?? origin;
    bySource.set(source, [...(bySource.get(source) ?? []), gate.name]);
  }
  for (const [source, names] of bySource) {
    const which = names.length === gates.length ? '' : ` of ${names.join(', ')}`;
    await output.alert(
      `not strict: a cancelled run${which} does not fail the gate (${output.excerpt(source, 200)})`,
    );
  }
}
