import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';

/** Returns the command that starts rungate: `npx rungate` for a package outside the PATH, or else `rungate`. */
export function selfName({ program: [, script], env }: Io): string {
  const isBinary = script === undefined;
  const onPath = !isBinary && /(^|[\\/])rungate$/.test(script) && env.npm_command !== 'exec';
  return isBinary || onPath ? 'rungate' : 'npx rungate';
}

/** Returns an error with the first steps, because an empty variable in a pipeline must not let a gate pass. */
export function noCommandError(io: Io): UsageError {
  const self = selfName(io);
  const lines = [
    '',
    'Try it against a mock of the service:',
    `  ${self} mock exec -- ${self} gate --project shop --process checkout`,
    '',
    'Use it with your service:',
    `  ${self} login --api-url https://service.example.com`,
    '  or set RUNGATE_API_URL and RUNGATE_API_KEY',
    '',
    `  ${self} init     writes .rungate.json and a pipeline`,
    `  ${self} gate     starts the configured runs, and waits for the verdict`,
    `  ${self} doctor   checks your configuration and suggests fixes`,
    `  ${self} --help   shows every command`,
  ];
  return new UsageError('no command given', { hint: 'see rungate --help', lines });
}
