import { unnamed } from '../../gate/plan/plan.ts';
import type { Flags } from '../../options/table.ts';
import type { PreviewGate } from '../../preview/open.ts';
import type { Settings } from '../../settings/names.ts';
import type { Context } from '../context.ts';
import { waitRules } from './wait-flags.ts';

/** A gate with its settings. */
export interface CommandGate extends PreviewGate {
  settings: Settings;
}

export type GateFlags = Flags & { dryRun?: boolean };

/** Returns the only gate of a command, with the rules from its settings. */
export function gateOf(
  { settings }: Pick<Context, 'settings'>,
  { start, journal, runIds, names }: Pick<CommandGate, 'start' | 'journal' | 'runIds' | 'names'>,
): CommandGate {
  const runs = { start, journal, runIds, names };
  return { name: unnamed, needs: [], advisory: false, settings, ...waitRules(settings), ...runs };
}
