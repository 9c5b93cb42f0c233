import type { Io } from '../host/io.ts';

/**
 * Tells the CI to mask a secret in its logs; call it before the secret is printed. The command goes to stderr, since
 * `$(…)` would capture stdout, and is not sanitized, since the CI must execute it. Only GitHub and Azure have such a
 * command; GitLab, TeamCity and others mask only secrets that they know before the job begins.
 */
export async function maskSecret({ env, err }: Pick<Io, 'env' | 'err'>, secret: string): Promise<void> {
  const isSet = (name: string) => env[name]?.toLowerCase() === 'true';
  const escaped = (percent: string) =>
    secret.replaceAll('%', percent).replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  if (isSet('GITHUB_ACTIONS')) await err.write(`::add-mask::${escaped('%25')}\n`);
  // task.setvariable with issecret would mask it, too, but leave a variable behind.
  if (isSet('TF_BUILD')) await err.write(`##vso[task.setsecret]${escaped('%AZP25')}\n`);
}
