import { type Plan, usualMinutes } from '../../ci/pipelines.ts';
import { usualDeployedMs, usualLimits } from '../../gate/limits.ts';
import { inOrder } from '../../gate/plan/graph.ts';
import { type FileGate, mergeGates, nodeOf } from '../../settings/gates.ts';
import { readProjectFile } from '../../settings/project-file.ts';

const deployedMsOf = (values: FileGate['source']['values']) =>
  values['deployed.url'] === undefined ? 0 : (values['deployed.timeout'] ?? usualDeployedMs);

const timeoutOf = ({ source }: FileGate) => source.values.timeout;

/** For gates that wait for each other. `beforeMs` is the wait of each gate before its timeout begins. */
function longestPathMs(gates: readonly FileGate[], usualMs: number, beforeMs: number): number {
  const ends = new Map<string, number>();
  const nodes = gates.map((gate) => ({ ...nodeOf(gate), ownMs: beforeMs + (timeoutOf(gate) ?? usualMs) }));
  for (const { name, needs, ownMs } of inOrder(nodes))
    ends.set(name, ownMs + Math.max(0, ...needs.map((need) => ends.get(need) ?? 0)));
  return Math.max(0, ...ends.values());
}

/** @param runsGates the step runs the gates of the file */
export function waitOf(fields: object, runsGates: boolean): Pick<Plan, 'timeoutInFile' | 'longestWaitMs'> {
  const file = readProjectFile('.rungate.json', new TextEncoder().encode(JSON.stringify(fields)));
  const sections = [file, ...file.branches.values()].map(({ values, gates }) => ({
    timeout: values.timeout ?? file.values.timeout,
    deployedMs: deployedMsOf({ ...file.values, ...values }),
    gates: runsGates ? [...mergeGates(file.gates, gates).values()] : [],
  }));
  const timeouts = sections.flatMap(({ timeout, gates }) => [timeout, ...gates.map(timeoutOf)]);
  const timeoutInFile = timeouts.some((timeout) => timeout !== undefined);
  const usualMs = timeoutInFile ? usualLimits.timeoutMs : usualMinutes * 60_000;
  const waits = sections.map(({ timeout = usualMs, gates, deployedMs }) =>
    runsGates ? longestPathMs(gates, timeout, deployedMs) : deployedMs + timeout,
  );
  return { timeoutInFile, longestWaitMs: Math.max(...waits) };
}
