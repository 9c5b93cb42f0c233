import type { Settings, Stage } from './harness.ts';

export interface Mistake {
  /** The mistake of a new user. */
  name: string;
  argv: readonly string[];
  world?: (on: Stage) => Settings;
  code: number;
  /** The parts of the message: what happened, to what, and what to do. */
  says: readonly (string | RegExp)[];
  /** The number of requests that are sent; most mistakes are found before. */
  sent?: number;
}

export const env = (more: Record<string, string | undefined>) => () => ({ env: more });
export const project = (text: string) => () => ({
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': text },
});
