import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import type { Context } from '../context.ts';
import { fieldTable } from '../endpoints/field-table.ts';
import { filled } from '../global-options.ts';
import { givenRunId } from './run-id.ts';

/** `rungate run cancel <runId>`: what the service replies is printed as it came; the interface does not show it. */
export async function cancelCommand(
  context: Context,
  runId: string,
  flags: { reason?: string },
): Promise<number> {
  givenRunId(runId);
  const reason = filled('--reason', flags.reason);
  const caller = await context.connect();
  const body = reason === undefined ? undefined : { reason };
  const reply = await caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body });
  if (reply.text.trim() !== '') await context.output.reply(reply.text, fieldTable(reply.text));
  await context.output.note(`asked the service to cancel run ${context.output.excerpt(runId, 80)}`);
  return exitCodes.ok;
}
