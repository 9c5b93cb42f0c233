import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { checkRunId } from '../../gate/run-id.ts';
import { readResponse } from '../../gate/run-status.ts';
import { membersOf, objectText } from '../../json/text.ts';
import type { Context } from '../context.ts';
import { fieldTable } from '../endpoints/response-table.ts';

/** Returns the status with its run id first and everything else unchanged; the API does not promise the id. */
function withIdFirst(text: string, runId: string): string {
  if (!text.trimStart().startsWith('{')) return text;
  const sent = membersOf(text);
  const id = sent.findLast(([name, value]) => name === 'runId' && value !== 'null');
  const others = sent.filter(([name]) => name !== 'runId');
  const members: [string, string][] = [id ?? ['runId', JSON.stringify(runId)], ...others];
  return objectText(members);
}

/** `rungate run status <runId>`: prints the status of a run. It does not gate on it; `run wait` does. */
export async function statusCommand({ connect, output }: Context, runId: string): Promise<number> {
  checkRunId(runId);
  const caller = await connect();
  // Unchecked, so that you can see a status which the gate does not trust.
  const options = { check: false };
  const response = await caller.exchange('run.status', run['run.status'], { params: { runId } }, options);
  const text = withIdFirst(response.text, runId);
  await output.response(text, fieldTable(text));
  const reading = readResponse(response, runId);
  if (reading.kind === 'broken') {
    const { field, expected, received } = reading.violation;
    const what = field === '' ? 'the response' : `"${field}"`;
    const problem = output.excerpt(`${what} should be ${expected}, but is ${received}`, 500);
    await output.note(`${output.paint('warn', 'warning:')} the gate would not trust this status: ${problem}`);
  }
  return exitCodes.ok;
}
