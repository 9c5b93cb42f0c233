import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { excerpt } from '../../sanitize.ts';
import { findRoot } from '../../settings/locate.ts';
import type { Settings } from '../../settings/names.ts';
import { loadSettings } from '../config/sources.ts';
import type { GlobalOptions } from '../global-options.ts';
import { shownPath } from './files.ts';

/** `npx rungate`, unless it is `rungate` that was found on the PATH. */
export function selfName(io: Io): string {
  const onPath = /(^|[\\/])rungate$/.test(io.program.at(-1) ?? '');
  return onPath && io.env.npm_command !== 'exec' ? 'rungate' : 'npx rungate';
}

function selectedOf({ process: chosen, tags }: Settings): string | null {
  if (chosen !== undefined) return `process ${excerpt(chosen.value, 60)}`;
  return tags === undefined ? null : `tags ${excerpt(tags.value.join(', '), 60)}`;
}

/** Returns what to do next, in lines of a terminal: to try rungate, to set it up, or to run it. */
async function nextSteps(io: Io, globals: GlobalOptions): Promise<string[]> {
  const self = selfName(io);
  const { settings, sources } = await loadSettings(io, globals, {});
  const { apiUrl, apiKey, token, project } = settings;
  const selected = selectedOf(settings);
  const hasCredential = apiKey !== undefined || token !== undefined;
  const login = `  ${self} login    keeps your API key (in a pipeline: RUNGATE_API_KEY)`;
  const end = [
    '',
    `  ${self} doctor   says what works and what does not`,
    `  ${self} --help   shows every command`,
  ];
  if (apiUrl === undefined) {
    return [
      '',
      'Try it against a mock of the service:',
      `  ${self} mock exec -- \\`,
      `    ${self} run trigger --project a --tag b --wait --timeout 30m`,
      '',
      'Use it with your service:',
      `  ${self} login --api-url https://service.example.com`,
      '  or set RUNGATE_API_URL and RUNGATE_API_KEY',
      ...end,
    ];
  }
  const service = excerpt(apiUrl.value, 60);
  if (project !== undefined && selected !== null) {
    return [
      '',
      `Set is ${selected}`,
      `of project ${excerpt(project.value, 60)}`,
      `at ${service}. Run it, and gate on it:`,
      `  ${self} run trigger --wait --strict --timeout 30m`,
      ...(hasCredential ? [] : [login]),
      ...end,
    ];
  }
  let missing = `  ${self} run trigger --wait --strict --timeout 30m \\\n    --project <slug> --process <slug>`;
  if (sources.projectFile !== null) {
    const names = project === undefined ? '"project"' : '"process" or "tags"';
    missing = `  write ${names} into ${shownPath(io, sources.projectFile)}; docs/settings.md shows how`;
  } else if (findRoot(io.cwd, io.exists) !== null) {
    missing = `  ${self} init     asks what to run; writes .rungate.json and a pipeline`;
  }
  return ['', `The service is ${service}. Next:`, ...(hasCredential ? [] : [login]), missing, ...end];
}

/**
 * The error of `rungate` without a command: an empty variable in a pipeline must not turn a gate green. It says what to do
 * next.
 */
export async function nothingAsked(io: Io, globals: GlobalOptions): Promise<UsageError> {
  const message = 'no command given';
  try {
    const lines = await nextSteps(io, globals);
    return new UsageError(message, { hint: 'see rungate --help', lines });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const hint = `${error.message} — see rungate --help`;
    return new UsageError(message, { hint, cause: error });
  }
}
