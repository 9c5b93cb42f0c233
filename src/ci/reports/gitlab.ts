import type { GateReport } from '../../gate/report.ts';
import { decidingRun, gateOutputs } from './outputs.ts';

/** GitLab refuses the file from 5 KB on; of variables, few limits are below 20 and we have 9. */
const limit = 5 * 1024 - 1;

/**
 * GitLab takes a line as it is, but expands `$` in a value, and a shell that reads the file would take spaces, quotes and
 * operators for its own. A value beyond these characters is left out, so that it cannot become something else.
 */
const plain = /^[\w.:/?#@,+=%~-]+$/;

/** A `dotenv` report artefact: a line per variable that is known. */
export function gitlabDotenv(report: GateReport): string {
  const outputs = gateOutputs(report);
  const variables = {
    RUNGATE_GATE: outputs.gate,
    RUNGATE_EXIT_CODE: outputs.exitCode,
    RUNGATE_VERDICT: outputs.verdict,
    RUNGATE_FAILED: outputs.failed,
    RUNGATE_BLOCKED: outputs.blocked,
    RUNGATE_RUN_ID: outputs.runId,
    RUNGATE_APP_URL: outputs.appUrl,
    RUNGATE_STATE: decidingRun(report)?.state ?? '',
    RUNGATE_IDEMPOTENCY_KEY: decidingRun(report)?.idempotencyKey ?? '',
  };
  let text = '';
  for (const [name, value] of Object.entries(variables)) {
    const line = `${name}=${value}\n`;
    // What is plain is ASCII: as many bytes as characters.
    if (plain.test(value) && text.length + line.length <= limit) text += line;
  }
  return text;
}
