import type { CiContext } from '../ci/context.ts';
import { detectCi, gitFacts } from '../ci/provider.ts';
import type { Io } from '../host/io.ts';
import { inCi } from '../output/motion.ts';

function textOf(io: Io, variable: string): string | undefined {
  const path = io.env[variable];
  if (path === undefined || path === '') return undefined;
  try {
    return new TextDecoder().decode(io.readFile(path));
  } catch {
    // The head of a pull request is then unknown, and is omitted rather than guessed.
    return undefined;
  }
}

/** Returns whether a CI system started this command, also one that rungate does not know. */
export const runsInCi = (env: Io['env']): boolean => detectCi(env).provider !== null || inCi(env);

/** Returns the context of this job: from the CI, or else from git. */
export async function ciContext(io: Io): Promise<CiContext> {
  const payload = textOf(io, 'GITHUB_EVENT_PATH');
  const ci = detectCi(io.env, undefined, payload);
  if (ci.provider !== null && ci.repository !== null && ci.commitSha !== null) return ci;
  // git takes time, so it runs only if the CI leaves something open.
  return detectCi(
    io.env,
    gitFacts((args) => io.capture(['git', ...args])),
    payload,
  );
}
