import type { CiContext } from '../ci/context.ts';
import { detectCi, gitFacts } from '../ci/provider.ts';
import type { StopListener } from '../errors.ts';
import type { Io } from '../host/io.ts';
import { inCi } from '../output/motion.ts';
import { sanitize } from '../sanitize.ts';
import { findRoot } from '../settings/locate.ts';
import type { Context } from './context.ts';

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

/** Returns the event that GitHub wrote for the job; undefined if there is none, or it cannot be read. */
export const eventPayload = (io: Io): string | undefined => textOf(io, 'GITHUB_EVENT_PATH');

/** Returns whether a CI system started this command, also one that rungate does not know. */
export const runsInCi = (env: Io['env']): boolean => detectCi(env).provider !== null || inCi(env);

/** Returns how a gate is stopped: outside CI, it outlives the shell and the terminal that started it. */
export const gateStops =
  (io: Io) =>
  (listener: StopListener): (() => void) =>
    io.onStop(listener, !runsInCi(io.env));

/** Returns the context of this job: from the CI, or else from git. */
export async function ciContext(io: Io): Promise<CiContext> {
  const payload = eventPayload(io);
  const ci = detectCi(io.env, undefined, payload);
  if (ci.provider !== null && ci.repository !== null && ci.commitSha !== null) return ci;
  // git takes time, so it runs only if the CI leaves something open.
  return detectCi(
    io.env,
    gitFacts((args) => io.capture(['git', ...args])),
    payload,
  );
}

/** Returns what to do if git does not read the repository because another user owns it, as in many containers; otherwise null. */
export function gitRefusal(
  io: Pick<Io, 'capture' | 'cwd' | 'exists'>,
): { problem: string; remedy: string } | null {
  if (findRoot(io.cwd, io.exists) === null) return null;
  let errors = '';
  io.capture(['git', 'rev-parse', '--git-dir'], (stderr) => {
    errors = stderr;
  });
  // Only the command is the same in every language and version of git.
  const [command] = /git config --global --add safe\.directory .+/.exec(errors) ?? [];
  if (command === undefined) return null;
  return {
    problem: 'git does not read this repository, because another user owns it: the commit is unknown',
    remedy: `run ${sanitize(command.trim())}`,
  };
}

/** Returns the context of this job for a run, as `ciContext` does. Warns if git refuses to say the commit, which the run then lacks. */
export async function buildContext({ io, output, settings }: Context): Promise<CiContext> {
  const ci = await ciContext(io);
  const refusal = ci.commitSha === null && settings.commitSha === undefined ? gitRefusal(io) : null;
  if (refusal !== null) await output.warn(refusal.problem, refusal.remedy);
  return ci;
}
