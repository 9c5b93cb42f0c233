import type { Io } from '../host/io.ts';

/**
 * Has the CI mask a secret in its logs, before it is printed anywhere. On stderr, since `$(…)` would swallow stdout,
 * and past everything that makes text harmless: this is a command, and is meant to be one. Only GitHub and Azure have such a
 * command; GitLab, TeamCity and others mask what was a secret before the job began.
 */
export async function maskSecret({ env, err }: Pick<Io, 'env' | 'err'>, secret: string): Promise<void> {
  const isSet = (name: string) => env[name]?.toLowerCase() === 'true';
  const escaped = (percent: string) =>
    secret.replaceAll('%', percent).replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  if (isSet('GITHUB_ACTIONS')) await err.write(`::add-mask::${escaped('%25')}\n`);
  // Not task.setvariable with issecret: that masks as well, but leaves a variable behind.
  if (isSet('TF_BUILD')) await err.write(`##vso[task.setsecret]${escaped('%AZP25')}\n`);
}
