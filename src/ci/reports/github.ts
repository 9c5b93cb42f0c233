import { type GateReport, shownAs } from '../../gate/report.ts';
import { gateOutputs } from './outputs.ts';
import { count, headline, paragraph } from './wording.ts';

/** The names by which a workflow reads the outputs: `steps.<id>.outputs.run-id`. */
export const githubOutputNames = {
  'run-id': 'runId',
  verdict: 'verdict',
  gate: 'gate',
  'exit-code': 'exitCode',
  failed: 'failed',
  blocked: 'blocked',
  'app-url': 'appUrl',
} as const;

/**
 * Lines for the file that `GITHUB_OUTPUT` names. `delimiter` must be random: whoever could guess it
 * could write outputs of their own into a value.
 */
export function githubOutputs(report: GateReport, delimiter: string): string {
  const outputs = gateOutputs(report);
  return Object.entries(githubOutputNames)
    .map(([name, key]) => {
      const value = outputs[key];
      if (value.includes(delimiter)) throw new Error(`the delimiter is part of the output ${name}`);
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
    })
    .join('');
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

const levels = { pass: 'notice', warn: 'warning', fail: 'error' } as const;
/** GitHub shows ten of each level in a step, and keeps quiet about the others. */
const most = 10;

/** Workflow commands, one in a line: an annotation for each run. */
export function githubAnnotations(report: GateReport): string[] {
  const titles = { fail: headline(report), warn: 'the gate lets it pass', pass: 'passed' };
  return (['fail', 'warn', 'pass'] as const).flatMap((shown) => {
    const runs = report.runs.filter((run) => shownAs(run) === shown);
    const texts = runs.map((run) => paragraph(run).join('\n'));
    if (texts.length > most) {
      texts.splice(
        most - 1,
        texts.length,
        `${count(texts.length - most + 1, 'run')} more, not shown one by one`,
      );
    }
    return texts.map(
      (text) => `::${levels[shown]} title=${property(`rungate: ${titles[shown]}`)}::${data(text)}`,
    );
  });
}
