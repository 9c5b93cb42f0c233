import type { Settings, Stage } from './harness.ts';

export interface Mistake {
  /** What a new user did. */
  name: string;
  argv: readonly string[];
  world?: (on: Stage) => Settings;
  code: number;
  /** What the message must say: what happened, to what, and what to do. */
  says: readonly (string | RegExp)[];
  /** Requests that may go out: most mistakes are found before anything is sent. */
  sent?: number;
}

export const env = (more: Record<string, string | undefined>) => () => ({ env: more });
export const project = (text: string) => () => ({
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': text },
});
