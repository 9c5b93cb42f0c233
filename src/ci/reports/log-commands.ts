import { decidingRuns, isSkipped, type SuitesReport, shownAs, suitesOf } from '../../gate/report.ts';
import type { GateReport, RunReport } from '../../gate/result-types.ts';
import { gateOutputs, variableOf } from './outputs.ts';
import { count, describeOther, headline, messageLines, othersOf, runTitle } from './wording.ts';

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

const teamcityEscapes: Readonly<Record<string, string>> = { '\n': '|n', '\r': '|r' };

/** Returns the text in TeamCity's escapes, with characters outside ASCII as their codes. */
function teamcityValue(text: string): string {
  return text
    .replace(/[|'[\]]/g, '|$&')
    .replace(
      /[^\u0020-\u007e]/g,
      (char) =>
        teamcityEscapes[char] ?? `|0x${char.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
    );
}

function teamcityMessage(name: string, attributes: Readonly<Record<string, string>>): string {
  const list = Object.entries(attributes).map(([key, text]) => ` ${key}='${teamcityValue(text)}'`);
  return `##teamcity[${name}${list.join('')}]`;
}

/** Returns whether the run fails its gate. A skipped gate is only a consequence of another one. */
const isFailed = (run: RunReport) => shownAs(run) === 'fail' && !isSkipped(run);

/** TeamCity truncates a longer description of a build problem. */
const maxProblemLength = 4000;

function teamcityTest(run: RunReport, others: readonly RunReport[]): string[] {
  const name = runTitle(run);
  const ms = Math.round(
    [run, ...others].reduce((total, { elapsedSeconds }) => total + elapsedSeconds * 1000, 0),
  );
  const duration = Number.isSafeInteger(ms) && ms >= 0 ? String(ms) : '0';
  const [message = '', ...details] = messageLines(run, others);
  // A failed test fails the build, whatever the exit code, so a run that the policy lets pass is an ignored test.
  const result = isFailed(run)
    ? teamcityMessage('testFailed', { name, message, details: details.join('\n') })
    : teamcityMessage('testIgnored', {
        name,
        message: [message, ...others.map((other) => describeOther(other))].join('; '),
      });
  return [
    teamcityMessage('testStarted', { name }),
    ...(run.verdict === 'passed' ? [] : [result]),
    teamcityMessage('testFinished', { name, duration }),
  ];
}

/**
 * Returns TeamCity's service messages: a suite for each gate with a test for each run, a build problem for each run that fails
 * its gate, and the status.
 */
export function teamcityMessages(report: SuitesReport): string[] {
  const problems = decidingRuns(report)
    .filter(isFailed)
    .map((run) => `rungate: ${messageLines(run)[0]}`.slice(0, maxProblemLength));
  return [
    ...suitesOf(report).flatMap(({ name, report: own }) => [
      teamcityMessage('testSuiteStarted', { name }),
      ...decidingRuns(own).flatMap((run) => teamcityTest(run, othersOf(run, own))),
      teamcityMessage('testSuiteFinished', { name }),
    ]),
    ...problems.map((description) => teamcityMessage('buildProblem', { description })),
    teamcityMessage('buildStatus', { text: `{build.status.text}; rungate: ${headline(report)}` }),
  ];
}
