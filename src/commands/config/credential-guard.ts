import { runsForFork, withheldHint } from '../../ci/fork.ts';
import { ConfigError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { parseUrl } from '../../parse-url.ts';
import type { Settings } from '../../settings/names.ts';

/**
 * Stops a project file from redirecting credentials. The file comes from the repository, so anyone who can propose a
 * change can edit it. docs/settings.md lists what this guard covers and what it does not.
 * @throws ConfigError before anything is sent
 */
export function guardCredentials(io: Io, { apiUrl, caFile, apiKey, token }: Settings): void {
  const credentials = [apiKey, token].filter((one) => one !== undefined);
  const steering = [apiUrl, caFile].find((setting) => setting?.origin === 'project file');
  if (credentials.length === 0 || steering === undefined) return;
  if (caFile?.origin === 'project file' && credentials.some(({ origin }) => origin === 'profile')) {
    throw new ConfigError(
      "caFile in the project file must not decide where your profile's credentials are sent",
      {
        hint: `if you trust ${caFile.value}: rungate config set caFile ${caFile.value}`,
      },
    );
  }
  if (runsForFork(io.env, io.readFile)) {
    const name = steering === apiUrl ? 'apiUrl' : 'caFile';
    throw new ConfigError(
      `the credentials were not sent: this pipeline may run for a fork, and its project file sets ${name}`,
      {
        hint: 'set RUNGATE_API_URL where the credentials are set (and pass --ca-file if you need one): both take precedence over the file',
      },
    );
  }
}

/**
 * Stops a project file from sending the hub's token to another server, as `guardCredentials` does for the service.
 * @throws ConfigError before anything is sent
 */
export function guardHubToken(io: Io, { 'hub.url': url, caFile, hubTokens }: Settings): void {
  const steering = [url, caFile].find((setting) => setting?.origin === 'project file');
  if (hubTokens === undefined || steering === undefined || !runsForFork(io.env, io.readFile)) return;
  const name = steering === url ? 'hub.url' : 'caFile';
  throw new ConfigError(
    `the token of the hub was not sent: this pipeline may run for a fork, and its project file sets ${name}`,
    { hint: 'set RUNGATE_HUB_URL where the token is set, or to none; it takes precedence over the file' },
  );
}

/**
 * Stops a project file from sending the headers for the version page to another page, as `guardCredentials` does for the
 * service.
 * @throws ConfigError before anything is sent
 */
export function guardHeaders(io: Io, { 'deployed.url': url, caFile }: Settings): void {
  const steering = [url, caFile].find((setting) => setting?.origin === 'project file');
  if (steering === undefined || !runsForFork(io.env, io.readFile)) return;
  const name = steering === url ? 'deployed.url' : 'caFile';
  throw new ConfigError(
    `the headers for the version page were not sent: this pipeline may run for a fork, and its project file sets ${name}`,
    { hint: 'give --deployed-url and --ca-file with the header file: options take precedence over the file' },
  );
}

const originOf = (address = '') => parseUrl(address)?.origin ?? null;

/**
 * Restricts shell completion, where the user has not run a command: a credential from the environment is sent only to
 * RUNGATE_API_URL, one from a profile only to the service it was saved for (checked by `loadSettings`).
 * @throws ConfigError before anything is sent
 */
export function guardOwnAddress(io: Io, { apiUrl, caFile, apiKey, token }: Settings): void {
  const own = originOf(io.env.RUNGATE_API_URL?.trim());
  const isOwn = own !== null && own === originOf(apiUrl?.value) && caFile?.origin !== 'project file';
  if (isOwn || [apiKey, token].every((one) => one === undefined || one.origin === 'profile')) return;
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

/** Returns better hints for a missing credential if its variable is set but empty: that is how a CI withholds a secret. */
export function emptySecretHints(io: Pick<Io, 'env' | 'readFile'>): Readonly<Record<string, string>> {
  const empty = emptySecret(io.env);
  if (empty === undefined) return {};
  const hint =
    withheldSecretHint(io) ??
    `${empty} is set but empty: a CI withholds secrets from pull requests from forks, and from jobs that the secret is not shared with; run the job for a branch of the repository, or check the name of the secret`;
  return { 'give.key': hint, 'give.bearer': hint, 'give.either': hint };
}
