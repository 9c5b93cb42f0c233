import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { excerpt } from '../../sanitize.ts';
import { findRoot } from '../../settings/locate.ts';
import type { Settings } from '../../settings/names.ts';
import { loadSettings, type SettingSources } from '../config/sources.ts';
import { readGlobals } from '../options.ts';
import { displayPath } from './planned-files.ts';

/** Returns the command that starts rungate: `npx rungate` for a package outside the PATH, or else `rungate`. */
export function selfName({ program: [, script], env }: Io): string {
  const isBinary = script === undefined;
  const onPath = !isBinary && /(^|[\\/])rungate$/.test(script) && env.npm_command !== 'exec';
  return isBinary || onPath ? 'rungate' : 'npx rungate';
}

/** Returns the next command, or what is missing for it. */
function nextStep(io: Io, self: string, settings: Settings, { gates, projectFile }: SettingSources): string {
  const { project, process, tags } = settings;
  // Each gate may have its own project.
  if (gates.length > 0 || (project !== undefined && (process ?? tags) !== undefined))
    return `  ${self} gate     starts the configured runs, and waits for the verdict`;
  if (projectFile !== null) {
    const names = project === undefined ? '"project": "<slug>"' : '"process": "<slug>"';
    return `  write ${names} into ${displayPath(io, projectFile)}`;
  }
  return findRoot(io.cwd, io.exists) === null
    ? `  ${self} gate --project <slug> --process <slug>`
    : `  ${self} init     writes .rungate.json and a pipeline`;
}

async function firstSteps(io: Io, raw: Readonly<Record<string, unknown>>): Promise<string[]> {
  const self = selfName(io);
  const globals = readGlobals(raw);
  const { settings, sources } = await loadSettings(io, globals.flags, globals.settings);
  const { apiUrl, apiKey, token } = settings;
  const end = [
    '',
    `  ${self} doctor   checks your configuration and suggests fixes`,
    `  ${self} --help   shows every command`,
  ];
  if (apiUrl === undefined) {
    return [
      '',
      'Try it against a mock of the service:',
      `  ${self} mock exec -- ${self} gate --project shop --process checkout`,
      '',
      'Use it with your service:',
      `  ${self} login --api-url https://service.example.com`,
      '  or set RUNGATE_API_URL and RUNGATE_API_KEY',
      ...end,
    ];
  }
  const login = `  ${self} login    saves your API key (in a pipeline: RUNGATE_API_KEY)`;
  return [
    '',
    `The service is ${excerpt(apiUrl.value, 60)}. Next:`,
    ...(apiKey === undefined && token === undefined ? [login] : []),
    nextStep(io, self, settings, sources),
    ...end,
  ];
}

/** Returns an error, because an empty variable in a pipeline must not let a gate pass. */
export async function noCommandError(
  io: Io,
  globals: Readonly<Record<string, unknown>>,
): Promise<UsageError> {
  const message = 'no command given';
  try {
    const lines = await firstSteps(io, globals);
    return new UsageError(message, { hint: 'see rungate --help', lines });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const hint = `${error.message} — see rungate --help`;
    return new UsageError(message, { hint, cause: error });
  }
}
