import type { Exchange } from '../../client/caller.ts';
import { mismatchError } from '../../client/schema-mismatch.ts';
import { received } from '../../contract/issues.ts';
import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { checkRunId } from '../../gate/run-id.ts';
import { readResponse } from '../../gate/run-status.ts';
import { withoutOwn } from '../../host/children.ts';
import type { Io } from '../../host/io.ts';
import { membersOf, objectText } from '../../json/text.ts';
import { wantsJson } from '../../output/json.ts';
import { linkTarget } from '../../output/live/hyperlink.ts';
import type { Output } from '../../output/output.ts';
import { runsInCi } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { fieldTable, warnOfHtml } from '../endpoints/response-table.ts';
import { filled } from '../options.ts';
import { command } from '../spec.ts';

/** Reads the status of a run, unchecked, so that a user can see one that the gate does not trust. */
async function readRun(context: Context, runId: string): Promise<Exchange> {
  checkRunId(runId);
  const caller = await context.connect();
  return caller.exchange('run.status', run['run.status'], { params: { runId } }, { check: false });
}

/** Returns the status with its run id first and everything else unchanged; the API does not promise the id. */
function withIdFirst(text: string, runId: string): string {
  if (!text.trimStart().startsWith('{')) return text;
  const sent = membersOf(text);
  const id = sent.findLast(([name, value]) => name === 'runId' && value !== 'null');
  const others = sent.filter(([name]) => name !== 'runId');
  const members: [string, string][] = [id ?? ['runId', JSON.stringify(runId)], ...others];
  return objectText(members);
}

export const runStatus = command({
  name: 'status',
  summary: 'show the state and the counts of a run',
  description: 'Show the state of a run. The exit code is 0 in any state; use run wait to gate on the run.',
  args: { '<runId>': '' },
  examples: [
    'run=$(rungate run trigger --project shop --process checkout)',
    'rungate run status "$run" --json',
  ],
  async run(context, { runId }) {
    const { output } = context;
    const response = await readRun(context, runId);
    const text = withIdFirst(response.text, runId);
    await output.response(text, fieldTable(text));
    const reading = readResponse(response, runId);
    if (reading.kind === 'broken') {
      const { field, expected, received } = reading.violation;
      const what = field === '' ? 'the response' : `"${field}"`;
      const problem = output.excerpt(`${what} should be ${expected}, but is ${received}`, 500);
      await output.note(
        `${output.paint('warn', 'warning:')} the gate would not trust this status: ${problem}`,
      );
    }
    return exitCodes.ok;
  },
});

type Environment = Pick<Io, 'env' | 'platform' | 'out'>;

/** Best first. None in CI, without a terminal, over SSH and without a display; BROWSER overrides them, `none` disables them. */
export function browserCommands({ env, platform, out }: Environment): readonly (readonly string[])[] {
  const filled = (name: string) => env[name]?.trim() || undefined;
  if (!out.isTTY || runsInCi(env)) return [];
  const own = filled('BROWSER');
  if (own !== undefined) return own === 'none' ? [] : [own.split(/\s+/)];
  if (platform === 'darwin' || platform === 'win32') {
    if (filled('SSH_CONNECTION') !== undefined) return [];
    // The full path, since Windows looks for a program in the working directory first.
    const system = `${filled('SystemRoot') ?? 'C:\\Windows'}\\System32`;
    return platform === 'darwin' ? [['open']] : [[`${system}\\rundll32.exe`, 'url.dll,FileProtocolHandler']];
  }
  if (filled('WSL_DISTRO_NAME') !== undefined) return [['wslview'], ['xdg-open']];
  return (filled('DISPLAY') ?? filled('WAYLAND_DISPLAY')) === undefined ? [] : [['xdg-open']];
}

/** Opens an address with the first command that works. Returns false if none does. */
export async function openInBrowser(io: Io, address: string): Promise<boolean> {
  for (const command of browserCommands(io)) {
    // A browser passes its environment on to its child processes.
    if (await io.launch([...command, address], withoutOwn(io.env))) return true;
  }
  return false;
}

function hasCredential(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
}

export const runOpen = command({
  name: 'open',
  summary: 'open the page of a run in your browser',
  description:
    'Open the page of a run (its appUrl) in your browser. Without one, as in CI or a pipe, print the URL. BROWSER overrides the command that opens it.',
  args: { '<runId>': '' },
  examples: ['run=$(rungate run trigger --project shop --process checkout)', 'rungate run open "$run"'],
  async run(context, { runId }) {
    const { io, output } = context;
    const status = await readRun(context, runId);
    const { appUrl } = Object(status.value);
    const address = typeof appUrl === 'string' ? linkTarget(appUrl) : null;
    const mismatch = (what: string) =>
      mismatchError(status.request, { field: 'appUrl', expected: 'an http or https URL', received: what });
    if (address === null) throw mismatch(received(appUrl));
    // Other processes can read the command line of a browser.
    if (hasCredential(address) || output.redact(address) !== address) throw mismatch('one with a credential');
    if (wantsJson(output)) {
      await output.data({ schemaVersion: 1, runId, appUrl: address }, '');
    } else if (await openInBrowser(io, address)) {
      await output.note(`opened ${output.excerpt(address, 2000)} in your browser`);
    } else {
      await output.result(`${address}\n`);
    }
    return exitCodes.ok;
  },
});

/** Describes the result of a cancel as far as the response shows it; the API does not describe it. */
function cancelSummary(response: Exchange, runId: string, { excerpt }: Output): string {
  const { state } = readResponse(response, runId);
  const run = `run ${excerpt(runId, 80)}`;
  if (state === 'completed') return `${run} had already completed, so there was nothing to cancel`;
  if (state === 'cancelled') return `${run} is cancelled`;
  const accepted = `the service accepted the request to cancel ${run}`;
  return state === null ? accepted : `${accepted}; its state is ${excerpt(state, 60)}`;
}

/** Prints the response of the service unchanged, since the API does not describe it. */
export const runCancel = command({
  name: 'cancel',
  summary: 'cancel a run',
  description: 'Cancel a run and print the response of the service unchanged.',
  args: { '<runId>': '' },
  options: { '--reason <text>': 'reason for the cancellation, sent to the service' },
  examples: [
    'run=$(rungate run trigger --project shop --process checkout)',
    'rungate run cancel "$run" --reason "started by mistake"',
  ],
  async run(context, { runId }, flags) {
    checkRunId(runId);
    const reason = filled('--reason', flags.reason);
    const caller = await context.connect();
    const body = reason === undefined ? undefined : { reason };
    const response = await caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body });
    const page = await warnOfHtml(context, response);
    if (response.text !== '' && !page)
      await context.output.response(response.text, fieldTable(response.text));
    if (!page) await context.output.note(cancelSummary(response, runId, context.output));
    return exitCodes.ok;
  },
});
