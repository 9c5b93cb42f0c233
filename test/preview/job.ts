import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { runMain, runPost, type Toolkit } from '../../src/action.ts';
import type { Io } from '../../src/host/io.ts';
import type { Kill, Launch, Machine } from '../slice/machine.ts';

export interface JobFacts {
  /** The inputs of the action. */
  inputs: Record<string, string>;
  /** The folder of the runner, for the journals. */
  folder: string;
  job?: string;
  runId?: string;
}

interface Start {
  attempt?: number;
  /** With `cut`, the lines of the journal since the last step are written only up to this share of their bytes. */
  kill?: (Kill & { cut?: number }) | null;
  signal?: Launch['signal'];
}

/** A job of GitHub Actions whose steps are processes of a machine. */
export function ciJob(on: Machine, { inputs, folder, job = 'e2e', runId = '7' }: JobFacts) {
  const states = new Map<number, Record<string, string>>();
  const stepOf = (attempt: number, step: (toolkit: Toolkit, io: Io) => Promise<number>) => {
    const state = states.get(attempt) ?? {};
    states.set(attempt, state);
    const toolkitOf = (id: string): Toolkit => ({
      getInput: (name) => ({ 'api-key': id, token: id, ...inputs })[name] ?? '',
      getState: (name) => state[name] ?? '',
      saveState(name, value) {
        state[name] = value;
      },
      setSecret() {},
    });
    const env = {
      ...{ GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_SHA: 'a'.repeat(40) },
      ...{
        GITHUB_REF: 'refs/heads/main',
        GITHUB_EVENT_NAME: 'push',
        GITHUB_SERVER_URL: 'https://github.com',
      },
      ...{ GITHUB_RUN_ID: runId, GITHUB_RUN_ATTEMPT: String(attempt), GITHUB_JOB: job, RUNNER_TEMP: folder },
    };
    const run = (io: Io, id: string) => step(toolkitOf(id), io);
    const start: Launch = { argv: [], run, settings: { env } };
    return { start, path: () => state.journal ?? '' };
  };
  const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);

  return {
    async main({ attempt = 1, kill = null, signal = null }: Start = {}) {
      const { start, path } = stepOf(attempt, runMain);
      let before = 0;
      let journal: Buffer | null = null;
      const ended = await on.launch({
        ...start,
        ...{ kill, signal },
        onStep() {
          before = sizeOf(path());
        },
        onKill() {
          if (!existsSync(path())) return;
          const size = sizeOf(path());
          if (kill?.cut !== undefined) truncateSync(path(), before + Math.round(kill.cut * (size - before)));
          journal = readFileSync(path());
        },
      });
      // Code that ran after the kill wrote the rest.
      if (journal !== null) writeFileSync(path(), journal);
      return ended;
    },
    post: (attempt = 1) => on.launch(stepOf(attempt, runPost).start),
  };
}
