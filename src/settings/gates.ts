import { ConfigError } from '../errors.ts';
import { gateName, gateNameHint, type PlanNode, problemIn } from '../gate/plan/graph.ts';
import { gateIds } from '../options/table.ts';
import { echoed } from '../suggest.ts';
import { readFields } from './fields.ts';
import { isObject, type JsonFile, type JsonPath } from './json-file.ts';
import { mergeSettings } from './merge.ts';
import { type SettingSource, sourceAt } from './names.ts';

/** A gate of a project file, with the settings that it has itself. */
export interface FileGate {
  readonly name: string;
  /** Strongest first. */
  readonly sources: readonly SettingSource[];
  readonly place: string;
  readonly needsAt: JsonPath;
}

function readGate(file: JsonFile, name: string, json: unknown, at: JsonPath, where: string): FileGate {
  const place = file.place(at, 'key');
  if (!gateName.test(name)) {
    throw new ConfigError(`${place}: ${echoed(name)} is not the name of a gate`, { hint: gateNameHint });
  }
  const values = readFields(file, json, at, [], gateIds);
  const source = sourceAt('project file', values, `${where}, gates ${name}`);
  return { name, sources: [source], place, needsAt: [...at, 'needs'] };
}

/**
 * Reads the gates in one part of a file.
 * @param where the part, for the provenance of the settings
 * @throws ConfigError with file, line and column
 */
export function readGates(file: JsonFile, json: unknown, at: JsonPath, where: string): Map<string, FileGate> {
  if (json === undefined) return new Map();
  if (!isObject(json)) {
    const expected = 'expected an object such as { "smoke": { "process": "smoke-tests" } }';
    throw new ConfigError(`${file.place(at)}: gates: ${expected}`);
  }
  const gates = Object.entries(json).map(([name, gate]): [string, FileGate] => [
    name,
    readGate(file, name, gate, [...at, name], where),
  ]);
  return new Map(gates);
}

/** Returns the gates of a file with those of a branch over them, field by field. */
export function mergeGates(
  all: ReadonlyMap<string, FileGate>,
  overrides: ReadonlyMap<string, FileGate>,
): Map<string, FileGate> {
  const merged = new Map(all);
  for (const [name, over] of overrides) {
    const gate = all.get(name) ?? over;
    const hasNeeds = over.sources.some(({ values }) => values.needs !== undefined);
    const sources = gate === over ? over.sources : [...over.sources, ...gate.sources];
    merged.set(name, { ...gate, sources, needsAt: hasNeeds ? over.needsAt : gate.needsAt });
  }
  return merged;
}

export function planNode({ name, sources }: FileGate): PlanNode {
  const { needs, advisory } = mergeSettings(sources);
  return { name, needs: needs?.value ?? [], advisory: advisory?.value ?? false };
}

/** Checks the needs of gates. @throws ConfigError with file, line and column */
export function checkGates(file: JsonFile, gates: ReadonlyMap<string, FileGate>): void {
  const problem = problemIn([...gates.values()].map(planNode));
  if (problem === null) return;
  const gate = gates.get(problem.gate) as FileGate;
  const place = file.place([...gate.needsAt, planNode(gate).needs.indexOf(problem.need)]);
  throw new ConfigError(`${place}: ${problem.message}`, { hint: problem.hint });
}
