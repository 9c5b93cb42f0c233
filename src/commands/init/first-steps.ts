import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { excerpt } from '../../sanitize.ts';
import { findRoot } from '../../settings/locate.ts';
import type { Settings } from '../../settings/names.ts';
import { loadSettings } from '../config/sources.ts';
import type { GlobalOptions } from '../global-options.ts';

/** What there is so far, of all that a gate needs. */
export interface Standing {
  /** How a person starts us: `rungate` or `npx rungate`. */
  readonly self: string;
  readonly apiUrl: string | null;
  readonly credential: boolean;
  readonly project: string | null;
  /** `process checkout` or `tags smoke, nightly`. */
  readonly selected: string | null;
  readonly inRepository: boolean;
  readonly projectFile: boolean;
}

const credentialLine = (self: string) =>
  `  ${self} login    keeps your API key (in a pipeline: RUNGATE_API_KEY)`;

/** What to do next, in lines of a terminal: to try it, to set it up, or to run it. */
export function nextSteps(standing: Standing): string[] {
  const { self, apiUrl, project, selected } = standing;
  const login = standing.credential ? [] : [credentialLine(self)];
  const end = [
    '',
    `  ${self} doctor   says what works and what does not`,
    `  ${self} --help   shows every command`,
  ];
  if (apiUrl === null) {
    return [
      '',
      'Try it against a mock of the service:',
      `  ${self} mock exec -- ${self} run trigger --project a --tag b --wait`,
      '',
      'Use it with your service:',
      `  ${self} login --api-url https://service.example.com`,
      '  or set RUNGATE_API_URL and RUNGATE_API_KEY',
      ...end,
    ];
  }
  if (project !== null && selected !== null) {
    return [
      '',
      `Set is ${selected}`,
      `of project ${project}`,
      `at ${apiUrl}. Run it, and gate on it:`,
      `  ${self} run trigger --wait --strict`,
      ...login,
      ...end,
    ];
  }
  const missing = standing.projectFile
    ? `  write ${project === null ? '"project"' : '"process" or "tags"'} into .rungate.json; docs/settings.md shows how`
    : standing.inRepository
      ? `  ${self} init     asks what to run; writes .rungate.json and a pipeline`
      : `  ${self} run trigger --project <slug> --process <slug> --wait --strict`;
  return ['', `The service is ${apiUrl}. Next:`, ...login, missing, ...end];
}

function selectedOf({ process: chosen, tags }: Settings): string | null {
  if (chosen !== undefined) return `process ${excerpt(chosen.value, 60)}`;
  return tags === undefined ? null : `tags ${excerpt(tags.value.join(', '), 60)}`;
}

/** `npx rungate`, unless it is `rungate` that was found on the PATH. */
export function selfName(io: Io): string {
  const onPath = /(^|[\\/])rungate$/.test(io.program.at(-1) ?? '');
  return onPath && io.env.npm_command !== 'exec' ? 'rungate' : 'npx rungate';
}

async function standingOf(io: Io, globals: GlobalOptions): Promise<Standing> {
  const { settings, sources } = await loadSettings(io, globals, {});
  const { apiUrl, apiKey, token, project } = settings;
  return {
    self: selfName(io),
    apiUrl: apiUrl === undefined ? null : excerpt(apiUrl.value, 60),
    credential: apiKey !== undefined || token !== undefined,
    project: project === undefined ? null : excerpt(project.value, 60),
    selected: selectedOf(settings),
    inRepository: findRoot(io.cwd, io.isThere) !== null,
    projectFile: sources.projectFile !== null,
  };
}

/**
 * `rungate` alone. A usage error, as it always was: an empty variable in a pipeline must not turn a gate green. But one
 * that says what to do next.
 */
export async function nothingAsked(io: Io, globals: GlobalOptions): Promise<UsageError> {
  const message = 'rungate alone does nothing: a command is missing';
  try {
    const lines = nextSteps(await standingOf(io, globals));
    return new UsageError(message, { hint: 'see rungate --help', lines });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const hint = `${error.message} — see rungate --help`;
    return new UsageError(message, { hint, cause: error });
  }
}
