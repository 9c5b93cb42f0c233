import type { Io } from '../host/io.ts';

/** How a CI is told that a text is a secret from now on. */
interface Mask {
  /** The variable that the CI sets to `true`, in whatever case. */
  readonly variable: string;
  line(secret: string): string;
}

/** As data of a command: in one line, and with the percent signs that stand for nothing else. */
function escapeData(text: string, percent: string): string {
  return text.replaceAll('%', percent).replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/**
 * The CIs with a mask that a command can set while it runs. Both read their commands from standard error as from
 * standard output; GitLab, TeamCity and others mask only what was a secret before the job began.
 */
const masks: readonly Mask[] = [
  { variable: 'GITHUB_ACTIONS', line: (secret) => `::add-mask::${escapeData(secret, '%25')}` },
  // Not task.setvariable with issecret: that masks as well, but leaves a variable behind.
  { variable: 'TF_BUILD', line: (secret) => `##vso[task.setsecret]${escapeData(secret, '%AZP25')}` },
];

/**
 * Has the CI mask a secret in its logs, before it is printed anywhere. On stderr, since `$(…)` would swallow stdout,
 * and past everything that makes text harmless: this is a command, and is meant to be one.
 */
export async function maskSecret(io: Pick<Io, 'env' | 'err'>, secret: string): Promise<void> {
  const known = masks.filter(({ variable }) => io.env[variable]?.toLowerCase() === 'true');
  for (const mask of known) await io.err.write(`${mask.line(secret)}\n`);
}
