import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argumentRows, argumentsOf, argvOf, inputVariables, secretInputs } from './action/inputs.ts';
import { withheldHint } from './ci/fork.ts';
import { environmentsOf, type JournalEvent, readJournal, runsOf } from './ci/journal.ts';
import { githubAnnotation } from './ci/reports/log-commands.ts';
import { main } from './cli/main.ts';
import { createContext } from './commands/context.ts';
import { readGlobals } from './commands/options.ts';
import { cancelUnfinished, deleteLeft } from './commands/run/left-by-job.ts';
import { fileRows, removeOlderFiles } from './commands/run/older-files.ts';
import { ConfigError, RungateError, redactError, reportError } from './errors.ts';
import { exitCodeOf, exitCodes } from './exit.ts';
import type { Io } from './host/io.ts';
import { flagName, inputName } from './options/table.ts';
import { redactor } from './redact.ts';
import { proxySecrets } from './transport/proxy.ts';

export { leave, systemIo } from './host/io.ts';

/** The functions of the runner's toolkit that the action uses. */
export interface Toolkit {
  getInput(name: string): string;
  getState(name: string): string;
  saveState(name: string, value: string): void;
  setSecret(secret: string): void;
}

/** Returns the environment for the gate: the key and the hub from the inputs. */
function environment(toolkit: Toolkit, io: Io): Io['env'] {
  if (toolkit.getInput('api-key') === '')
    throw new ConfigError('the input api-key is empty', {
      hint:
        withheldHint(io.env, io.readFile) ??
        'check that the secret exists and that the workflow uses its exact name',
    });
  const variables = inputVariables(
    (name) => toolkit.getInput(name),
    (secret) => toolkit.setSecret(secret),
  );
  return { ...io.env, ...variables };
}

/** Runs a step. An error of rungate becomes an annotation and an exit code; any other error is a bug and is thrown. */
async function runStep(toolkit: Toolkit, io: Io, step: () => Promise<number>): Promise<number> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    redactError(
      error,
      redactor([...secretInputs((name) => toolkit.getInput(name)), ...proxySecrets(io.env)]),
    );
    const { message, hint } = reportError(error);
    const text = hint === null ? message : `${message}; ${hint}`;
    await io.err.write(`${githubAnnotation('error', 'rungate', text)}\n`);
    return exitCodeOf(error);
  }
}

const stopCodes: readonly number[] = [exitCodes.SIGHUP, exitCodes.SIGINT, exitCodes.SIGTERM];

/** Runs the main step: the same as `rungate gate`. Returns its exit code. */
export function runMain(toolkit: Toolkit, io: Io): Promise<number> {
  const read = (name: string) => toolkit.getInput(name);
  return runStep(toolkit, io, async () => {
    // The inputs may be wrong, and a pull request from a fork has no key.
    removeOlderFiles(argumentsOf(fileRows, read), io);
    const journal = join(io.env.RUNNER_TEMP ?? tmpdir(), `rungate-action-${crypto.randomUUID()}.journal`);
    // Saved before a run is started: the post step needs it even if this step is killed.
    toolkit.saveState('journal', journal);
    const env = environment(toolkit, io);
    const code = await main(argvOf(read), { ...io, env, journal, isLog: true });
    if (!stopCodes.includes(code)) toolkit.saveState('ended', 'true');
    return code;
  });
}

/**
 * Runs the post step: cancels the runs that the main step left in progress because it was cancelled or killed, and deletes the
 * environments that it created.
 */
export async function runPost(toolkit: Toolkit, io: Io): Promise<number> {
  const journal = toolkit.getState('journal');
  if (journal === '' || toolkit.getState('ended') === 'true') return exitCodes.ok;
  return runStep(toolkit, io, async () => {
    const events = eventsOf(journal);
    const all = runsOf(events);
    const left = all.filter((run) => !run.settled);
    const environments = environmentsOf(events);
    if (left.length + environments.length === 0) return exitCodes.ok;
    // The same connection settings as in the main step.
    const inputs = argumentRows.map((row) => [
      camel(flagName(row).slice(2)),
      toolkit.getInput(inputName(row) ?? ''),
    ]);
    const { flags, settings } = readGlobals(Object.fromEntries(inputs.filter(([, value]) => value !== '')));
    const context = await createContext({ ...io, env: environment(toolkit, io) }, flags, settings);
    try {
      const { code, open } = await cancelUnfinished(context, left);
      return environments.length === 0
        ? code
        : Math.max(code, await deleteLeft(context, environments, { all, open }));
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
 * @throws ConfigError if it is damaged, or if another user may have written it: cancelling its runs would not be safe
 */
function eventsOf(path: string): JournalEvent[] {
  try {
    return readJournal(path);
  } catch (error) {
    const problem = `the journal of the main step cannot be used: ${path}: ${(error as Error).message}`;
    const hint = 'a run may still be in progress: look for it in the service, and cancel it there';
    throw new ConfigError(problem, { hint });
  }
}
