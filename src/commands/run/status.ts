import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { givenRunId } from '../../gate/run-id.ts';
import type { Context } from '../context.ts';
import { fieldTable } from '../endpoints/reply-table.ts';

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
  await context.output.reply(reply.text, fieldTable(reply.text));
  return exitCodes.ok;
}
