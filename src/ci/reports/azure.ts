import { type GateReport, shownAs } from '../../gate/report.ts';
import { type GateOutputs, gateOutputs } from './outputs.ts';
import { paragraph } from './wording.ts';

const names = {
  RUNGATE_RUN_ID: 'runId',
  RUNGATE_VERDICT: 'verdict',
  RUNGATE_GATE: 'gate',
  RUNGATE_EXIT_CODE: 'exitCode',
  RUNGATE_FAILED: 'failed',
  RUNGATE_BLOCKED: 'blocked',
  RUNGATE_APP_URL: 'appUrl',
} as const satisfies Record<string, keyof GateOutputs>;

function data(text: string): string {
  return text
    .replaceAll('%', '%AZP25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
    .replaceAll(';', '%3B')
    .replaceAll(']', '%5D');
}

/** A variable is put into later scripts as text: what Azure would expand there is no value. */
function variable(text: string): string {
  return /\$[([{]/.test(text) ? '' : data(text);
}

/**
 * Logging commands, one in a line: an issue for each run that did not pass the gate, and the outputs as variables. That the
 * task fails is for the exit code to say.
 */
export function azureCommands(report: GateReport): string[] {
  const outputs = gateOutputs(report);
  const issues = report.runs.flatMap((run) => {
    const shown = shownAs(run);
    if (shown === 'pass') return [];
    const text = `rungate: ${paragraph(run).join('; ')}`;
    return [`##vso[task.logissue type=${shown === 'warn' ? 'warning' : 'error'}]${data(text)}`];
  });
  const variables = Object.entries(names).map(
    ([name, key]) => `##vso[task.setvariable variable=${name};isOutput=true]${variable(outputs[key])}`,
  );
  return [...issues, ...variables];
}
