import { count } from '../../count.ts';
import { shownAs } from '../../gate/policy.ts';
import { decidingRuns } from '../../gate/report.ts';
import type { GateReport } from '../../gate/result-types.ts';
import { gateOutputs, variableOf } from './outputs.ts';
import { headline, messageLines, othersOf } from './wording.ts';

// Commands that a CI system reads from a job's log, one per line.

/** Replaces the characters in this order: the escape character must be first. */
function escaped(text: string, escapes: Readonly<Record<string, string>>): string {
  return Object.entries(escapes).reduce((result, [char, code]) => result.replaceAll(char, code), text);
}

const githubData = { '%': '%25', '\r': '%0D', '\n': '%0A' };
const githubProperty = { ...githubData, ':': '%3A', ',': '%2C' };
const azureData = { '%': '%AZP25', '\r': '%0D', '\n': '%0A', ';': '%3B', ']': '%5D' };

export function githubAnnotation(level: 'warning' | 'error', subject: string, text: string): string {
  return `::${level} title=${escaped(subject, githubProperty)}::${escaped(text, githubData)}`;
}

/** The levels of the runs that did not pass the gate. */
const levels = { fail: 'error', waiting: 'notice', warn: 'warning' } as const;

/** GitHub shows ten annotations of each level per step and silently drops the others. */
const maxAnnotations = 10;

export function githubAnnotations(report: GateReport): string[] {
  const titles = { fail: headline(report), warn: 'the gate lets it pass' };
  return (['fail', 'warn'] as const).flatMap((shown) => {
    const runs = decidingRuns(report).filter((run) => shownAs(run) === shown);
    const texts = runs.map((run) => messageLines(run, othersOf(run, report)).join('\n'));
    if (texts.length > maxAnnotations) {
      const hidden = texts.splice(maxAnnotations - 1).length;
      texts.push(`${count(hidden, 'more run')} not shown`);
    }
    return texts.map((text) => githubAnnotation(levels[shown], `rungate: ${titles[shown]}`, text));
  });
}

/**
 * Returns Azure's logging commands: an issue for each run that did not pass the gate, and the outputs as variables. The exit
 * code fails the task.
 */
export function azureCommands(report: GateReport): string[] {
  const issues = decidingRuns(report).flatMap((run) => {
    const shown = shownAs(run);
    if (shown === 'pass') return [];
    const text = escaped(`rungate: ${messageLines(run, othersOf(run, report)).join('; ')}`, azureData);
    return `##vso[task.logissue type=${levels[shown]}]${text}`;
  });
  const variables = Object.entries(gateOutputs(report)).map(([output, value]) => {
    // Azure inserts a variable into later scripts as text and would expand this there.
    const text = /\$[([{]/.test(value) ? '' : escaped(value, azureData);
    return `##vso[task.setvariable variable=${variableOf(output)};isOutput=true]${text}`;
  });
  return [...issues, ...variables];
}
