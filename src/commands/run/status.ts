import { membersOf, objectText } from '../../client/json-text.ts';
import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { givenRunId } from '../../gate/run-id.ts';
import type { Context } from '../context.ts';
import { fieldTable } from '../endpoints/reply-table.ts';

/** The status with the id of its run, all else as it came: the contract does not show that the service sends the id. */
function withRunId(text: string, runId: string): string {
  if (!text.trimStart().startsWith('{')) return text;
  const sent = membersOf(text);
  const id = sent.findLast(([name, value]) => name === 'runId' && value !== 'null');
  const others = sent.filter(([name]) => name !== 'runId');
  const members: [string, string][] = [id ?? ['runId', JSON.stringify(runId)], ...others];
  return objectText(members);
}

/** `rungate run status <runId>`: the status as it is, whatever it is. A gate is `run wait`. */
export async function statusCommand(context: Context, runId: string): Promise<number> {
  givenRunId(runId);
  const caller = await context.connect();
  const reply = await caller.exchange(
    'run.status',
    run['run.status'],
    { params: { runId } },
    { check: false },
  );
  const text = withRunId(reply.text, runId);
  await context.output.reply(text, fieldTable(text));
  return exitCodes.ok;
}
