import { runsForFork } from '../../ci/fork.ts';
import { ConfigError, type CredentialError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { parseUrl } from '../../parse-url.ts';
import type { Settings } from '../../settings/names.ts';

/**
 * A project file comes from the repository, and so from whoever may propose a change to it. It may say where the
 * service is; it must not lead credentials to a place of its own choosing. What is held here is written down, with what
 * is not, in docs/settings.md.
 * @throws ConfigError before anything is sent
 */
export function guardCredentials(io: Io, { apiUrl, caFile, apiKey, token }: Settings): void {
  const credentials = [apiKey, token].filter((one) => one !== undefined);
  const steering = [apiUrl, caFile].find((setting) => setting?.origin === 'project file');
  if (credentials.length === 0 || steering === undefined) return;
  if (caFile?.origin === 'project file' && credentials.some(({ origin }) => origin === 'profile')) {
    throw new ConfigError("the project file's caFile cannot vouch for where your profile's credentials go", {
      hint: `if you trust ${caFile.value}: rungate config set caFile ${caFile.value}`,
    });
  }
  if (runsForFork(io.env, io.readFile)) {
    const name = steering === apiUrl ? 'apiUrl' : 'caFile';
    throw new ConfigError(
      `this pipeline runs for a change from outside the repository, and its project file gives ${name}: the credentials are not sent there`,
      {
        hint: 'set RUNGATE_API_URL beside the credentials (and give --ca-file, if it takes one): both come before the file',
      },
    );
  }
}

const originOf = (address = '') => parseUrl(address)?.origin ?? null;

/**
 * Where nobody has given a command, as when TAB is pressed, a credential goes only to the service that its own source names:
 * that of the environment to RUNGATE_API_URL, that of a profile to the service it was given for, which `loadSettings` checks.
 * @throws ConfigError before anything is sent
 */
export function guardOwnAddress(io: Io, { apiUrl, caFile, apiKey, token }: Settings): void {
  const own = originOf(io.env.RUNGATE_API_URL?.trim());
  const isOwn = own !== null && own === originOf(apiUrl?.value) && caFile?.origin !== 'project file';
  if (isOwn || [apiKey, token].every((one) => one === undefined || one.origin === 'profile')) return;
  throw new ConfigError('the credentials and the address of the service are from different sources', {
    hint: 'set RUNGATE_API_URL beside the credentials',
  });
}

/**
 * Says more of a missing credential where its variable is there, and empty: a CI fills in nothing where a pipeline may not
 * have the secret, as for a pull request from a fork.
 */
export function explainEmpty(error: CredentialError, env: Io['env']): void {
  const empty = ['RUNGATE_API_KEY', 'RUNGATE_TOKEN'].find((name) => env[name]?.trim() === '');
  if (empty === undefined) return;
  error.hint = `${empty} is there, and empty: a CI gives no secrets to a pull request from a fork, nor to a job that the secret is not shared with; leave the job out there, or check the secret's name`;
}
