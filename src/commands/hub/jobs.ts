import { openGitHub, usualApi } from '../../gate/detached/github.ts';
import type { StartJob } from '../../hub/detached.ts';
import { rows } from '../../options/rows.ts';
import { readSecret } from '../../settings/environment.ts';
import type { Context } from '../context.ts';

/**
 * Returns what starts the jobs of detached gates at GitHub, or null without a token.
 * @throws ConfigError if GITHUB_API_URL is not the URL of an API
 */
export async function jobStarter({ io, settings, nameOf, connection }: Context): Promise<StartJob | null> {
  const usual = settings.githubToken?.value;
  if (usual === undefined) return null;
  const { caPem, proxyEnv } = await connection();
  const { clock, env, readFile } = io;
  const open = () => {
    // The token of a GitHub App is valid for an hour: another program replaces the file.
    const token = readSecret(env, rows.githubToken.env, readFile) ?? usual;
    return openGitHub({ url: env.GITHUB_API_URL || usualApi, token, caPem, proxyEnv, clock, nameOf });
  };
  // A wrong URL is an error at the start.
  open().close();
  return async ({ repository, ref, id }) => {
    const github = open();
    try {
      await github.startJob(repository, ref, id);
    } finally {
      github.close();
    }
  };
}
