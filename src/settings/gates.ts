import { ConfigError } from '../errors.ts';
import { gateName, gateNameHint, type PlanNode, problemIn } from '../gate/plan/graph.ts';
import { gateIds } from '../options/table.ts';
import { echoed } from '../suggest.ts';
import { readFields } from './fields.ts';
import type { JsonFile, JsonPath } from './json-file.ts';
import { overlay } from './merge.ts';
import { type SettingSource, sourceAt } from './names.ts';

/** A gate of a project file, with the settings that it has itself. */
export interface FileGate {
  readonly name: string;
  readonly source: SettingSource;
  /** The file, line and column of its name. */
  readonly place: string;
  readonly needsAt: JsonPath;
}

function readGate(file: JsonFile, name: string, json: unknown, at: JsonPath): FileGate {
  const place = file.place(at, 'key');
  if (!gateName.test(name)) {
    throw new ConfigError(`${place}: ${echoed(name)} is not the name of a gate`, {
      hint: gateNameHint,
    });
  }
  const values = readFields(file, json, at, [], gateIds);
  const where = at.length > 2 ? `${file.path}, branches ${at[1]}` : file.path;
  const source = sourceAt('project file', values, `${where}, gates ${name}`);
  return { name, source, place, needsAt: [...at, 'needs'] };
}

/** Reads the gates in one part of a file. @throws ConfigError with file, line and column */
export function readGates(file: JsonFile, json: unknown, at: JsonPath): Map<string, FileGate> {
  if (json === undefined) return new Map();
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    const expected = 'expected an object such as { "smoke": { "process": "smoke-tests" } }';
    throw new ConfigError(`${file.place(at)}: gates: ${expected}`);
  }
  const gates = Object.entries(json).map(([name, gate]) => readGate(file, name, gate, [...at, name]));
  return new Map(gates.map((gate) => [gate.name, gate]));
}

/** Returns the gates of a file with those of a branch over them, field by field. */
export function mergeGates(
  all: ReadonlyMap<string, FileGate>,
  own: ReadonlyMap<string, FileGate>,
): Map<string, FileGate> {
  const merged = new Map(all);
  for (const [name, over] of own) {
    const gate = all.get(name);
    if (gate === undefined) {
      merged.set(name, over);
      continue;
    }
    const { needsAt } = over.source.values.needs === undefined ? gate : over;
    merged.set(name, { ...gate, needsAt, source: overlay(gate.source, over.source) });
  }
  return merged;
}

export function planNode({ name, source }: FileGate): PlanNode {
  const { needs = [], advisory = false } = source.values;
  return { name, needs, advisory };
}

/** Checks the needs of gates. @throws ConfigError with file, line and column */
export function checkGates(file: JsonFile, gates: ReadonlyMap<string, FileGate>): void {
  const problem = problemIn([...gates.values()].map(planNode));
  if (problem === null) return;
  const { source, needsAt = [] } = gates.get(problem.gate) ?? {};
  const needs = source?.values.needs ?? [];
  const place = file.place([...needsAt, needs.indexOf(problem.need)]);
  throw new ConfigError(`${place}: ${problem.message}`, { hint: problem.hint });
}
