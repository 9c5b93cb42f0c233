import type { Settings } from '../cli/harness.ts';
import { type Ended, type Kill, machine } from './machine.ts';
import { type Course, type ModelRequest, modelService } from './service.ts';

/** The time that an agent needs between two commands, in milliseconds. */
const betweenMs = 1000;

export interface ShellOptions {
  /** The gates of the project file. */
  gates?: object;
  /** The moments at which commands are killed, by the number of the call. */
  kills?: Readonly<Record<number, Kill>>;
  /** The text of the version page, and the time from which it shows it, in milliseconds. */
  versions?: readonly (readonly [fromMs: number, version: string])[];
}

export const versionPage = 'https://page.test/version';

/** A shell that runs commands in one work tree of a machine, one after the other. All runs take the same courses. */
export function openShell(courses: Course | readonly Course[], options: ShellOptions = {}) {
  const { gates, kills = {}, versions = [] } = options;
  const list = 'end' in courses ? [courses] : courses;
  const service = modelService({ courses: { checkout: list, web: list, api: list } });
  const disk = { readOnly: false };
  /** How the service responds to reads of runs, if not as it should: never, or with an error. */
  const faults: { reads: 'never' | 403 | 404 | null } = { reads: null };
  const sent: ModelRequest[] = [];
  const backend = {
    latency: service.latency,
    handle(request: ModelRequest, now: number) {
      if (request.origin === new URL(versionPage).origin)
        return { status: 200, body: versions.findLast(([fromMs]) => fromMs <= now)?.[1] ?? '' };
      if (request.origin !== 'https://service.test') return null;
      sent.push(request);
      const { reads } = faults;
      if (reads === null || request.method !== 'GET') return service.handle(request, now);
      if (reads === 'never') return { at: Number.MAX_SAFE_INTEGER, respond: () => null };
      return { status: reads, body: { error: 'no' } };
    },
  };
  const on = machine(backend, { unwritable: () => (disk.readOnly ? 'EROFS' : null) });
  on.files['/repo/.git'] = '';
  if (gates !== undefined) on.files['/repo/.rungate.json'] = JSON.stringify({ project: 'shop', gates });
  let calls = 0;
  const shell = {
    ...{ on, service, disk, faults, sent, cwd: '/repo', settings: {} as Settings },
    /** The environment of the next commands. */
    env: { RUNGATE_API_URL: 'https://service.test', RUNGATE_API_KEY: 'key-of-user' } as Record<
      string,
      string
    >,
    pause: (ms: number) => on.during(on.pause(ms)),
    call([program, ...argv]: readonly string[]): Promise<Ended> {
      if (program !== 'rungate') throw new Error(`the program is ${program}`);
      calls += 1;
      const settings = { ...shell.settings, cwd: shell.cwd, env: { ...shell.env } };
      const kill = kills[calls] ?? null;
      const run = async () => {
        const ended = await on.launch({ argv, settings, kill });
        await on.pause(betweenMs);
        return ended;
      };
      return on.during(run());
    },
  };
  return shell;
}

export type Shell = ReturnType<typeof openShell>;
