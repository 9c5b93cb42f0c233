import { type GateReport, type RunReport, shownAs } from '../../gate/report.ts';
import { gateOutputs, variableOf } from './outputs.ts';
import { count, headline, messageLines, runTitle } from './wording.ts';

// Commands that a CI reads in a job's log, one in a line.

/** Replaces in this order: the escape character comes first. */
function escaped(text: string, escapes: Readonly<Record<string, string>>): string {
  return Object.entries(escapes).reduce((result, [char, code]) => result.replaceAll(char, code), text);
}

const githubData = { '%': '%25', '\r': '%0D', '\n': '%0A' };
const githubProperty = { ...githubData, ':': '%3A', ',': '%2C' };
const azureData = { '%': '%AZP25', '\r': '%0D', '\n': '%0A', ';': '%3B', ']': '%5D' };

/** Returns a workflow command of GitHub: an annotation. */
export function githubAnnotation(
  level: 'notice' | 'warning' | 'error',
  subject: string,
  text: string,
): string {
  return `::${level} title=${escaped(subject, githubProperty)}::${escaped(text, githubData)}`;
}

const levels = { fail: 'error', warn: 'warning', pass: 'notice' } as const;

/** GitHub shows ten of each level in a step, and silently drops the others. */
const most = 10;

/** Returns an annotation for each run. */
export function githubAnnotations(report: GateReport): string[] {
  const titles = { fail: headline(report), warn: 'the gate lets it pass', pass: 'passed' };
  return (['fail', 'warn', 'pass'] as const).flatMap((shown) => {
    const runs = report.runs.filter((run) => shownAs(run) === shown);
    const texts = runs.map((run) => messageLines(run).join('\n'));
    if (texts.length > most) {
      const hidden = texts.splice(most - 1).length;
      texts.push(`${count(hidden, 'run')} more, not shown one by one`);
    }
    return texts.map((text) => githubAnnotation(levels[shown], `rungate: ${titles[shown]}`, text));
  });
}

/**
 * Returns Azure's logging commands: an issue for each run that did not pass the gate, and the outputs as variables. The exit
 * code fails the task.
 */
export function azureCommands(report: GateReport): string[] {
  const issues = report.runs
    .filter((run) => shownAs(run) !== 'pass')
    .map((run) => {
      const text = escaped(`rungate: ${messageLines(run).join('; ')}`, azureData);
      return `##vso[task.logissue type=${levels[shownAs(run)]}]${text}`;
    });
  const variables = Object.entries(gateOutputs(report)).map(([output, value]) => {
    // Azure puts a variable into later scripts as text, and would expand this there.
    const text = /\$[([{]/.test(value) ? '' : escaped(value, azureData);
    return `##vso[task.setvariable variable=${variableOf(output)};isOutput=true]${text}`;
  });
  return [...issues, ...variables];
}

const teamcityEscapes: Readonly<Record<string, string>> = { '\n': '|n', '\r': '|r' };

/** TeamCity has its own escapes; a character outside ASCII is written as its code. */
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

/** TeamCity cuts a longer description of a problem. */
const longestProblem = 4000;

function teamcityTest(run: RunReport): string[] {
  const name = runTitle(run);
  const ms = Math.round(run.elapsedSeconds * 1000);
  const duration = Number.isSafeInteger(ms) && ms >= 0 ? String(ms) : '0';
  const [message = '', ...details] = messageLines(run);
  // A failed test fails the build, whatever the exit code: only if the gate fails.
  const result =
    shownAs(run) === 'fail'
      ? teamcityMessage('testFailed', { name, message, details: details.join('\n') })
      : teamcityMessage('testIgnored', { name, message });
  return [
    teamcityMessage('testStarted', { name }),
    ...(run.verdict === 'passed' ? [] : [result]),
    teamcityMessage('testFinished', { name, duration }),
  ];
}

/** Returns TeamCity's service messages: a test for each run, a build problem for each that fails the gate, and the status. */
export function teamcityMessages(report: GateReport): string[] {
  const problems = report.runs
    .filter((run) => shownAs(run) === 'fail')
    .map((run) => `rungate: ${messageLines(run)[0]}`.slice(0, longestProblem));
  return [
    teamcityMessage('testSuiteStarted', { name: 'rungate' }),
    ...report.runs.flatMap(teamcityTest),
    teamcityMessage('testSuiteFinished', { name: 'rungate' }),
    ...problems.map((description) => teamcityMessage('buildProblem', { description })),
    teamcityMessage('buildStatus', { text: `{build.status.text}; rungate: ${headline(report)}` }),
  ];
}
