import { runsForFork, withheldHint } from '../../ci/fork.ts';
import { ConfigError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { parseUrl } from '../../parse-url.ts';
import type { Settings } from '../../settings/names.ts';

/** The value of RUNGATE_HUB_URL that turns off a hub of the project file or the profile. */
export const noHub = 'none';

/** Refuses to send something if a pipeline may run for a fork and its project file decides where. @throws ConfigError */
function refuseForFork(
  io: Io,
  settings: Settings,
  address: 'apiUrl' | 'hub.url' | 'deployed.url',
  refusal: string,
  hint: string,
): void {
  const name = [address, 'caFile' as const].find((id) => settings[id]?.origin === 'project file');
  if (name === undefined || !runsForFork(io.env, io.readFile)) return;
  const reason = `this pipeline may run for a fork, and its project file sets ${name}`;
  throw new ConfigError(`${refusal}: ${reason}`, { hint });
}

/**
 * Stops a project file from redirecting credentials. The file comes from the repository, so anyone who can propose a
 * change can edit it. docs/reference/settings.md lists what this guard covers and what it does not.
 * @throws ConfigError before anything is sent
 */
export function guardCredentials(io: Io, settings: Settings): void {
  const { caFile, apiKey, token, headers } = settings;
  if ([apiKey, token, headers].every((secret) => secret === undefined)) return;
  if (caFile?.origin === 'project file' && [apiKey, token].some((key) => key?.origin === 'profile')) {
    throw new ConfigError(
      "caFile in the project file must not decide where your profile's credentials are sent",
      { hint: `if you trust ${caFile.value}, run: rungate config set caFile ${caFile.value}` },
    );
  }
  refuseForFork(
    io,
    settings,
    'apiUrl',
    'the credentials were not sent',
    'set RUNGATE_API_URL where the credentials are set (and pass --ca-file if you need one): both take precedence over the file',
  );
}

/** As `guardCredentials`, for the hub's token. @throws ConfigError before anything is sent */
export function guardHubToken(io: Io, settings: Settings): void {
  if (settings.hubTokens === undefined) return;
  const hint = 'set RUNGATE_HUB_URL where the token is set, or to none; it takes precedence over the file';
  refuseForFork(io, settings, 'hub.url', 'the hub token was not sent', hint);
}

/** As `guardCredentials`, for the headers of the version page. @throws ConfigError before anything is sent */
export function guardHeaders(io: Io, settings: Settings): void {
  const hint =
    'give --deployed-url and --ca-file with the header file: options take precedence over the file';
  refuseForFork(io, settings, 'deployed.url', 'the headers for the version page were not sent', hint);
}

const originOf = (address = '') => parseUrl(address)?.origin ?? null;

/**
 * Restricts shell completion, where the user has not run a command: a credential from the environment is sent only to
 * RUNGATE_API_URL, one from a profile only to the service it was saved for (checked by `loadSettings`).
 * @throws ConfigError before anything is sent
 */
export function guardOwnAddress(io: Io, { apiUrl, caFile, apiKey, token, headers }: Settings): void {
  const origin = originOf(io.env.RUNGATE_API_URL?.trim());
  const isOwn = origin !== null && origin === originOf(apiUrl?.value) && caFile?.origin !== 'project file';
  if (
    isOwn ||
    [apiKey, token, headers].every((secret) => secret === undefined || secret.origin === 'profile')
  )
    return;
  throw new ConfigError('the credentials and the URL of the service come from different sources', {
    hint: 'set RUNGATE_API_URL where the credentials are set',
  });
}

const emptySecret = (env: Io['env']) =>
  ['RUNGATE_API_KEY', 'RUNGATE_TOKEN'].find((name) => env[name]?.trim() === '');

/** Returns what to do if GitHub withholds the secrets: the variable of a credential is set but empty. Otherwise null. */
export function withheldSecretHint({ env, readFile }: Pick<Io, 'env' | 'readFile'>): string | null {
  return emptySecret(env) === undefined ? null : withheldHint(env, readFile);
}

/** Returns better hints for a missing credential if its variable is set but empty: that is how a CI system withholds a secret. */
export function emptySecretHints(io: Pick<Io, 'env' | 'readFile'>): Readonly<Record<string, string>> {
  const empty = emptySecret(io.env);
  if (empty === undefined) return {};
  const hint =
    withheldSecretHint(io) ??
    `${empty} is set but empty: CI systems give no secrets to pull requests from forks, or to jobs that the secret is not shared with; run the job on a branch of the repository, or check the name of the secret`;
  return { 'give.key': hint, 'give.bearer': hint, 'give.either': hint };
}
