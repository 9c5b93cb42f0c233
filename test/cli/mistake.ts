import type { Settings, Stage } from './harness.ts';

export interface Mistake {
  /** The mistake of a new user; fixtures/mistakes.txt has the message and the exit code. */
  name: string;
  argv: readonly string[];
  world?: (on: Stage) => Settings;
  /** The number of requests that are sent; most mistakes are found before. */
  sent?: number;
}

export const env = (more: Record<string, string | undefined>) => () => ({ env: more });
export const project = (text: string) => () => ({
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': text },
});
