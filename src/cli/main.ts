import { actWith } from '../commands/binding.ts';
import { keptSecrets } from '../commands/config/sources.ts';
import { removeOlderFiles } from '../commands/run/older-files.ts';
import { ConfigError, type ErrorReport, messageOf, RungateError, reportError } from '../errors.ts';
import { exitCodeOf, exitCodes } from '../exit.ts';
import type { Io } from '../host/io.ts';
import { createOutput } from '../output/output.ts';
import { readSecrets } from '../settings/environment.ts';
import { proxySecrets } from '../transport/proxy.ts';
import { formatAtFirstSight, isVerbose, ownArguments, refuseSecrets } from './argv.ts';
import { createProgram, type Printed, parseAndRun, programFor, writesReports } from './program.ts';

/** Runs one command and returns its exit code. Only the catch in here maps errors to exit codes. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let code: number = exitCodes.ok;
  const printed: Printed = { text: '' };
  try {
    if (io.cwd === '')
      throw new ConfigError('the working directory of this process was deleted', {
        hint: 'change to a folder that exists; if this one was created again, run cd "$PWD"',
      });
    let decides = false;
    const act = actWith({ io, programFor }, argv, (result, spec) => {
      code = result;
      decides = spec.settings !== false && spec.decides === true;
    });
    const program = await createProgram(argv, act, printed, io.version);
    if (writesReports(program, argv)) removeOlderFiles(ownArguments(argv), io);
    refuseSecrets(argv);
    await parseAndRun(program, argv, printed, io);
    if (printed.text !== '') await io.out.write(printed.text);
    // A result that was not delivered is not a success.
    if (code !== exitCodes.ok) return code;
    if (io.out.failure !== null) throw unwritten(io.out.failure.message, io.out.failure);
    if (decides && !io.out.open) throw unwritten('its reader has closed it');
    return code;
  } catch (error) {
    await printError(error, argv, io);
    return exitCodeOf(error);
  }
}

function unwritten(reason: string, cause?: Error): ConfigError {
  return new ConfigError(`the result could not be written to standard output: ${reason}`, {
    hint: 'check that the file is writable and the disk is not full, or that the program after the pipe reads to the end',
    cause,
  });
}

async function printError(error: unknown, argv: readonly string[], io: Io): Promise<void> {
  const format = formatAtFirstSight(argv);
  const secrets = [...readSecrets(io.env, io.readFile), ...(await keptSecrets(io)), ...proxySecrets(io.env)];
  const output = await createOutput(io, { format, quiet: false, verbose: isVerbose(argv), secrets });
  if (error instanceof RungateError) {
    const { lines } = error;
    if (lines === undefined || format !== 'plain') return output.error(reportError(error));
    await output.error({ ...reportError(error), hint: null });
    return output.alert(lines.join('\n'));
  }
  await output.error(bugReport(error));
  const stack = error instanceof Error ? error.stack : undefined;
  if (format === 'plain' && stack !== undefined) await output.alert(stack);
}

/** Returns the report for an error that is not a RungateError, which is a bug in rungate. */
function bugReport(error: unknown): ErrorReport {
  return {
    code: 'bug',
    message: `this is a bug in rungate: ${messageOf(error)}`,
    status: null,
    method: null,
    path: null,
    details: null,
    hint: 'please report it with the command you ran and the lines below',
    body: null,
  };
}
