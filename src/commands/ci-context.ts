import type { CiContext } from '../ci/context.ts';
import { detectCi, gitFacts } from '../ci/provider.ts';
import type { Io } from '../host/io.ts';

/** The text of a file that a variable names; undefined where there is none. */
function textOf(io: Io, variable: string): string | undefined {
  const path = io.env[variable];
  if (path === undefined || path === '') return undefined;
  try {
    return new TextDecoder().decode(io.readFile(path));
  } catch {
    // A pull request's head is not known then: it is left out rather than guessed.
    return undefined;
  }
}

/** Where and for what we are running: what the CI says, else what git knows. */
export async function ciContext(io: Io): Promise<CiContext> {
  const payload = textOf(io, 'GITHUB_EVENT_PATH');
  const ci = detectCi(io.env, undefined, payload);
  if (ci.provider !== null && ci.repository !== null && ci.commitSha !== null) return ci;
  // Asking git takes time: only where the CI leaves something open.
  return detectCi(
    io.env,
    gitFacts((args) => io.capture(['git', ...args])),
    payload,
  );
}
