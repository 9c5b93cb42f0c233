import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argvOf } from './action/inputs.ts';
import { type JournalEvent, parseJournal, runsOf } from './ci/journal.ts';
import { readOwnFile } from './ci/own-file.ts';
import { githubAnnotation } from './ci/reports/log-commands.ts';
import { main } from './cli/main.ts';
import { createContext } from './commands/context.ts';
import { cancelUnfinished } from './commands/run/cancel.ts';
import { ConfigError, RungateError, redactError, reportError } from './errors.ts';
import { exitCodeOf, exitCodes } from './exit.ts';
import type { Io } from './host/io.ts';
import { redactor } from './redact.ts';
import { proxySecrets } from './transport/proxy.ts';

export { systemIo } from './host/io.ts';

/** The functions of the runner's toolkit that the action uses. */
export interface Toolkit {
  getInput(name: string): string;
  getState(name: string): string;
  saveState(name: string, value: string): void;
  setSecret(secret: string): void;
}

/** The inputs that are secrets. */
const secretInputs = ['api-key', 'hub-token'];

/** Returns the environment for the gate: the key and the hub from the inputs, and the path of the journal. */
function environment(toolkit: Toolkit, io: Io, journal: string): Io['env'] {
  const key = toolkit.getInput('api-key');
  if (key === '')
    throw new ConfigError('the input api-key is empty', {
      hint: 'check that the secret exists and that the workflow uses its exact name',
    });
  toolkit.setSecret(key);
  const [hubUrl, hubToken] = [toolkit.getInput('hub-url'), toolkit.getInput('hub-token')];
  if (hubToken !== '') toolkit.setSecret(hubToken);
  return {
    ...io.env,
    RUNGATE_API_KEY: key,
    RUNGATE_API_KEY_FILE: undefined,
    ...(hubUrl !== '' && { RUNGATE_HUB_URL: hubUrl }),
    ...(hubToken !== '' && { RUNGATE_HUB_TOKEN: hubToken, RUNGATE_HUB_TOKEN_FILE: undefined }),
    RUNGATE_JOURNAL: journal,
  };
}

/** Runs a step. An error of rungate becomes an annotation and an exit code; any other error is a bug and is thrown. */
async function runStep(toolkit: Toolkit, io: Io, step: () => Promise<number>): Promise<number> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    redactError(
      error,
      redactor([...secretInputs.map((name) => toolkit.getInput(name)), ...proxySecrets(io.env)]),
    );
    const { message, hint } = reportError(error);
    const text = hint === null ? message : `${message}; ${hint}`;
    await io.err.write(`${githubAnnotation('error', 'rungate', text)}\n`);
    return exitCodeOf(error);
  }
}

const stopCodes: readonly number[] = [exitCodes.SIGHUP, exitCodes.SIGINT, exitCodes.SIGTERM];

/** Runs the main step: the same gate as `rungate run trigger --wait`. Returns its exit code. */
export function runMain(toolkit: Toolkit, io: Io): Promise<number> {
  return runStep(toolkit, io, async () => {
    const journal = join(io.env.RUNNER_TEMP ?? tmpdir(), `rungate-action-${randomUUID()}.journal`);
    // Saved before a run is started: the post step needs it even if this step is killed.
    toolkit.saveState('journal', journal);
    const env = environment(toolkit, io, journal);
    const code = await main(
      argvOf((name) => toolkit.getInput(name)),
      { ...io, env },
    );
    if (!stopCodes.includes(code)) toolkit.saveState('ended', 'true');
    return code;
  });
}

/** Runs the post step: cancels the runs that the main step left in progress because it was cancelled or killed. */
export async function runPost(toolkit: Toolkit, io: Io): Promise<number> {
  const journal = toolkit.getState('journal');
  if (journal === '' || toolkit.getState('ended') === 'true') return exitCodes.ok;
  return runStep(toolkit, io, async () => {
    const left = runsOf(readJournal(journal)).filter((run) => !run.settled);
    if (left.length === 0) return exitCodes.ok;
    // The same connection settings as in the main step.
    const globals = Object.fromEntries(
      (['api-url', 'config', 'profile', 'ca-file', 'request-timeout'] as const)
        .map((name) => [camel(name), toolkit.getInput(name)])
        .filter(([, value]) => value !== ''),
    );
    const context = await createContext({ ...io, env: environment(toolkit, io, journal) }, globals);
    try {
      return await cancelUnfinished(context, left);
    } finally {
      await context.close();
    }
  });
}

function camel(name: string): string {
  return name.replace(/-[a-z]/g, (part) => part.slice(1).toUpperCase());
}

/**
 * Returns the events of the main step's journal; none if it does not exist, since then no run was started.
 * @throws ConfigError if the journal is damaged, or if another user may have written it: cancelling its runs would not be safe
 */
function readJournal(path: string): JournalEvent[] {
  const unusable = (problem: string) =>
    new ConfigError(`the journal of the main step cannot be ${problem}`, {
      hint: 'a run may still be in progress: look for it in the service, and cancel it there',
    });
  let text: string | null;
  try {
    text = readOwnFile(path);
  } catch (error) {
    throw unusable(`used: ${path}: ${(error as Error).message}`);
  }
  const events = parseJournal(text ?? '');
  if (events === null) throw unusable(`read: ${path}`);
  return events;
}
