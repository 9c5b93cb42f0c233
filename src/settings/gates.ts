import { ConfigError } from '../errors.ts';
import { gateName, gateNameHint, type PlanNode, problemIn } from '../gate/plan/graph.ts';
import { echoed } from '../suggest.ts';
import { checked, readFields } from './fields.ts';
import { type GateFacts, gateSettings, ownFields } from './gate-fields.ts';
import type { JsonFile, Path } from './json-file.ts';
import { overlay } from './merge.ts';
import { type Source, sourceAt } from './names.ts';

/** A gate of a project file. Undefined fields are not set. */
export interface FileGate {
  readonly name: string;
  readonly source: Source;
  /** The file, line and column of its name. */
  readonly place: string;
  readonly needs: readonly string[] | undefined;
  readonly advisory: boolean | undefined;
  readonly facts: GateFacts;
  /** The place of the needs in the file. */
  readonly needsAt: Path;
}

function readGate(file: JsonFile, name: string, json: unknown, at: Path): FileGate {
  const place = file.place(at, 'key');
  if (!gateName.test(name)) {
    throw new ConfigError(`${place}: ${echoed(name)} is not the name of a gate`, {
      hint: gateNameHint,
    });
  }
  const values = readFields(file, json, at, Object.keys(ownFields), gateSettings);
  const given = json as Readonly<Record<string, unknown>>;
  const own = Object.entries(ownFields).flatMap(([field, { type }]) => {
    if (given[field] === undefined) return [];
    return [[field, checked(file, field, [...at, field], () => type.read(given[field]))] as const];
  });
  const { needs, advisory, ...facts } = Object.fromEntries(own) as Partial<FileGate> & GateFacts;
  const where = at.length > 2 ? `${file.path}, branches ${at[1]}` : file.path;
  const source = sourceAt('project file', values, `${where}, gates ${name}`);
  return { name, source, place, needs, advisory, facts, needsAt: [...at, 'needs'] };
}

/** Reads the gates in one part of a file. @throws ConfigError with file, line and column */
export function readGates(file: JsonFile, json: unknown, at: Path): Map<string, FileGate> {
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
    const { source, needs = gate.needs, advisory = gate.advisory, facts } = over;
    const needsAt = over.needs === undefined ? gate.needsAt : over.needsAt;
    const fields = { name, place: gate.place, needs, advisory, needsAt, facts: { ...gate.facts, ...facts } };
    merged.set(name, { ...fields, source: overlay(gate.source, source) });
  }
  return merged;
}

/** Returns the place of a gate in the order. */
export function nodeOf({ name, needs = [], advisory = false }: FileGate): PlanNode {
  return { name, needs, advisory };
}

/** Checks the needs of gates. @throws ConfigError with file, line and column */
export function checkGates(file: JsonFile, gates: ReadonlyMap<string, FileGate>): void {
  const problem = problemIn([...gates.values()].map(nodeOf));
  if (problem === null) return;
  const { needs = [], needsAt = [] } = gates.get(problem.gate) ?? {};
  const place = file.place([...needsAt, needs.indexOf(problem.need)]);
  throw new ConfigError(`${place}: ${problem.message}`, { hint: problem.hint });
}
