import { mismatchError, received } from '../../client/schema-mismatch.ts';
import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { parseRunId } from '../../gate/run-id.ts';
import { linkTarget } from '../../output/live/hyperlink.ts';
import type { Context } from '../context.ts';
import { openInBrowser } from './browser.ts';

function hasCredential(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
}

/** `rungate run open <runId>`: opens the page of a run, or prints its address if it cannot open a browser. */
export async function openCommand(context: Context, runId: string): Promise<number> {
  parseRunId(runId);
  const { io, output } = context;
  const name = 'run.status';
  const caller = await context.connect();
  const status = await caller.exchange(name, run[name], { params: { runId } }, { check: false });
  const { appUrl } = Object(status.value);
  const address = typeof appUrl === 'string' ? linkTarget(appUrl) : null;
  const mismatch = (what: string) =>
    mismatchError(status.request, { field: 'appUrl', expected: 'an http or https URL', received: what });
  if (address === null) throw mismatch(received(appUrl));
  // Other processes can read the command line of a browser.
  if (hasCredential(address) || output.redact(address) !== address) throw mismatch('one with a credential');
  if (output.format === 'json' || output.format === 'ndjson') {
    await output.data({ schemaVersion: 1, runId, appUrl: address }, { head: [], rows: [] });
  } else if (await openInBrowser(io, address)) {
    await output.note(`opened ${output.excerpt(address, 2000)} in your browser`);
  } else {
    await output.result(`${address}\n`);
  }
  return exitCodes.ok;
}
