import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../../src/exit.ts';
import type { GateReport, GatesReport } from '../../src/gate/result-types.ts';
import { itemSeed, seededRandom } from '../../src/mock/random.ts';
import { type Ended, type Machine, machine } from '../slice/machine.ts';
import { checkCommand, checkEnd, checkRepeat, isUnclear, namedRuns } from './invariants.ts';
import { type SimulatedService, simulatedService } from './service.ts';
import { type Act, describeWorld, type World, worldOf } from './world.ts';

export type Report = GateReport | GatesReport;

/** One gate for its user: the commands of a job's attempt, or in a shell everything that goes on with the same gate. */
export interface Scope {
  /** The number of the job, from 1. */
  job: number;
  /** The gates that the pipeline has begun: more than jobs if a job repeats the command after its end. */
  begun: number;
  ids: Set<string>;
  killed: Set<string>;
  /** The runs in the results of earlier commands. */
  named: Set<string>;
  /** The output of its commands. */
  said: string;
  /** The overlaps that are checked. */
  overlaps: number;
  commands: number;
  /** The time of the first request, from which the timeout counts. */
  begunAt: number;
  pausedMs: number;
  wasSetBack: boolean;
  /** Its state was deleted, could not be written or is on another machine. */
  lost: boolean;
}

export interface Played {
  world: World;
  service: SimulatedService;
  on: Machine;
  scope: Scope;
  /** The number of the command, from 1. */
  count: number;
  act: Act;
  ended: Ended;
  report: Report | null;
  fail(what: string): void;
}

export interface Counts {
  commands: number;
  kills: number;
  stops: number;
  runs: number;
  faults: number;
  codes: Map<string, number>;
}

export interface Simulated extends Counts {
  seed: number;
  /** The world, and each step. */
  log: string[];
  violations: string[];
}

const plain: Act = {
  pauseMs: 1_000,
  jumpMs: 0,
  jumpDuring: null,
  loses: false,
  repeats: false,
  reRun: null,
  kill: null,
  signal: null,
};
/** So many commands without an end are too many. */
const mostCommands = 60;
export const junit = '/work/junit.xml';

function parsed(out: string): Report | null {
  try {
    return JSON.parse(out) as Report;
  } catch {
    return null;
  }
}

const newScope = (job: number, begun: number, overlaps = 0): Scope => ({
  job,
  begun,
  overlaps,
  ids: new Set(),
  killed: new Set(),
  named: new Set(),
  said: '',
  commands: 0,
  begunAt: Number.POSITIVE_INFINITY,
  pausedMs: 0,
  wasSetBack: false,
  lost: false,
});

/** Returns the first command of the world. */
function firstCommand({ gates, sliceMs, timeoutMs, retries, failFast, warns }: World): string[] {
  return [
    'gate',
    ...(gates.length === 1 ? ['--project', 'shop', '--process', 'web'] : []),
    ...(sliceMs === null ? [] : ['--slice', `${sliceMs / 1000}s`]),
    ...['--timeout', `${timeoutMs / 1000}s`, '--retries', String(retries)],
    ...(gates.length > 1 && failFast ? ['--fail-fast'] : []),
    ...(warns ? ['--on', 'timeout=warn'] : []),
    ...['--junit', junit, '--json'],
  ];
}

function variables({ place }: World, job: number, folder: string): Record<string, string> {
  const commit = 'c'.repeat(40);
  if (place === 'github')
    return {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_RUN_ID: '7',
      GITHUB_JOB: 'test',
      GITHUB_ACTION: '__run',
      GITHUB_REPOSITORY: 'o/shop',
      GITHUB_SHA: commit,
      GITHUB_RUN_ATTEMPT: String(job),
      RUNNER_TEMP: folder,
    };
  if (place === 'gitlab')
    return {
      CI: 'true',
      GITLAB_CI: 'true',
      CI_PIPELINE_ID: '7',
      CI_JOB_NAME: 'test',
      CI_JOB_ID: String(100 + job),
      CI_PROJECT_PATH: 'o/shop',
      CI_COMMIT_SHA: commit,
    };
  return {};
}

/** Plays the commands of a world, one after another, until its gate has ended and nothing else happens. */
class Simulation {
  readonly log: string[];
  readonly violations: string[] = [];
  readonly counts: Counts = { commands: 0, kills: 0, stops: 0, runs: 0, faults: 0, codes: new Map() };
  readonly service: SimulatedService;
  private readonly on: Machine;
  private scope = newScope(1, 1);
  private next: string[] | null = null;
  private skewMs = 0;
  private aheadMs = 0;
  private readonly world: World;
  private readonly folder: string;
  private readonly random: () => number;

  constructor(world: World, folder: string) {
    this.world = world;
    this.folder = folder;
    this.random = seededRandom(itemSeed(world.seed, 2));
    this.log = describeWorld(world);
    this.service = simulatedService(world, this.say);
    const problemAt = (now: number) =>
      world.disk.find(({ from, to }) => now >= from && now < to)?.code ?? null;
    this.on = machine(this.service, { unwritable: problemAt });
    const { gates } = world;
    const rows = gates.map(({ name, needs, advisory }) => [name, { process: name, needs, advisory }]);
    if (gates.length > 1)
      this.on.files['/work/.rungate.json'] = JSON.stringify({
        project: 'shop',
        gates: Object.fromEntries(rows),
      });
  }

  readonly say = (line: string) => {
    this.log.push(`${(this.on.now() / 1000).toFixed(1).padStart(7)} s ${line}`);
  };

  private readonly fail = (what: string) => {
    this.violations.push(what);
    this.say(`VIOLATION: ${what}`);
  };

  play(): Promise<void> {
    return this.on.during(this.commands());
  }

  private async commands(): Promise<void> {
    const { acts } = this.world;
    let isOpen = false;
    for (let count = 1; count <= mostCommands; count += 1) {
      const act = acts[count - 1] ?? plain;
      await this.before(act, count);
      const played = await this.command(act, count);
      checkCommand(played);
      const isAlone = this.world.place === 'shell' && this.world.sliceMs === null;
      if (isAlone) this.leave(1);
      isOpen = this.goesOn(played);
      if (isOpen) continue;
      // A command that was killed after its result may have saved that it was reported.
      if (played.ended.code === null && !isAlone) return;
      if (played.ended.code !== null) checkEnd(played);
      for (const run of namedRuns(played)) this.scope.named.add(run);
      if (count >= acts.length) return this.repeat(played);
      // If its end was not saved, the same command goes on with the same gate.
      const isRefused = played.ended.code === exitCodes.usage;
      if (isRefused || (!isUnclear(played) && !played.scope.lost)) this.leave(this.scope.job);
    }
    if (isOpen) this.fail(`the gate did not end after ${mostCommands} commands`);
  }

  /** The changes before a command. */
  private async before(act: Act, count: number): Promise<void> {
    const { pauseMs, jumpMs, loses, reRun } = act;
    await this.on.pause(pauseMs);
    this.scope.pausedMs += pauseMs;
    if (count > 1 && reRun !== null) {
      this.leave(this.scope.job + 1);
      this.say(`job ${this.scope.job} on the ${reRun}`);
    }
    if (loses || (count > 1 && reRun === 'fresh machine')) this.lose();
    if (jumpMs !== 0) this.jump(jumpMs);
  }

  private leave(job: number): void {
    this.scope = newScope(job, this.scope.begun + 1, this.scope.overlaps);
    this.next = null;
  }

  private lose(): void {
    this.say('the folder with the state is deleted');
    this.on.loseState();
    for (const name of readdirSync(this.folder)) rmSync(join(this.folder, name), { recursive: true });
    this.scope.lost = true;
  }

  private jump(byMs: number): void {
    this.skewMs += byMs;
    this.scope.wasSetBack ||= byMs < 0;
    this.aheadMs += Math.max(0, byMs);
    // A gate that has ended is kept for a day.
    this.scope.lost ||= this.aheadMs > 24 * 60 * 60_000;
    this.say(`the clock jumps by ${byMs / 1000} s`);
  }

  private async command(act: Act, count: number): Promise<Played> {
    const { world, scope, service, on } = this;
    const { kill, signal, repeats, jumpDuring } = act;
    const argv = this.next === null || repeats ? firstCommand(world) : this.next.slice(1);
    this.service.begin(count);
    this.say(`#${count} rungate ${argv.join(' ')}`);
    if (jumpDuring !== null) on.later(jumpDuring.afterMs, () => this.jump(jumpDuring.byMs));
    const env = variables(world, scope.job, this.folder);
    const settings = { env, random: this.random };
    const ended = await on.launch({ argv, kill, signal, settings, skewMs: () => this.skewMs });
    const { code, out, startedAt, endedAt } = ended;
    scope.ids.add(ended.id);
    scope.said += out + ended.err;
    scope.commands += 1;
    const own = service.sent.get(ended.id);
    scope.begunAt = Math.min(scope.begunAt, own?.creates[0] ?? Number.POSITIVE_INFINITY);
    scope.lost ||= world.disk.some(({ from, to }) => from <= endedAt && to > startedAt);
    const report = parsed(out);
    this.say(
      `#${count} ${code === null ? 'was killed' : `exit ${code}`}${report?.result === undefined ? '' : ` (${report.result})`}`,
    );
    if (code === null) scope.killed.add(ended.id);
    if (code === null) this.counts.kills += 1;
    if (signal !== null && code !== null && code >= exitCodes.SIGHUP) this.counts.stops += 1;
    const known = String(code ?? 'killed');
    this.counts.codes.set(known, (this.counts.codes.get(known) ?? 0) + 1);
    this.counts.commands += 1;
    return { world, service, on, scope, count, act, ended, report, fail: this.fail };
  }

  /** Returns whether the same gate goes on with the next command. */
  private goesOn({ ended: { code, out }, report, scope }: Played): boolean {
    if (report?.next !== undefined) {
      this.next = [...report.next];
      return true;
    }
    if (code === null) return out === '';
    // The one that goes on does not exist any more.
    if (code === exitCodes.config && this.next !== null && scope.lost) {
      this.next = null;
      return true;
    }
    return false;
  }

  /** Gives the first command once more after the end. */
  private async repeat(before: Played): Promise<void> {
    const { place, sliceMs } = this.world;
    if (place !== 'shell' || sliceMs === null || before.scope.lost || isUnclear(before)) return;
    const runs = this.service.runs.length;
    this.service.recover();
    this.leave(1);
    const after = await this.command(plain, before.count + 1);
    checkCommand(after);
    checkRepeat(after, runs);
  }
}

/** Plays the world of a seed. Everything random is made from the seed. */
export async function simulate(seed: number): Promise<Simulated> {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-simulation-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  const simulation = new Simulation(worldOf(seed), folder);
  const { log, violations, counts, service } = simulation;
  try {
    await simulation.play();
  } catch (error) {
    violations.push((error as Error).stack ?? String(error));
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  }
  return { ...counts, seed, log, violations, runs: service.runs.length, faults: service.faults() };
}
