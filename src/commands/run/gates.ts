import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { inOrder } from '../../gate/plan/graph.ts';
import type { Start } from '../../gate/start.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { type GatesFlags, planGates, selectGates } from './gates-plan.ts';
import { type CommandGate, runGates } from './open-gate.ts';

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
