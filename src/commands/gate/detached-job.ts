import type { DetachableJob } from '../../ci/detachable.ts';
import { detectCi } from '../../ci/provider.ts';
import { webUrl } from '../../ci/provider-url.ts';
import { inTime } from '../../clock.ts';
import { ConfigError, HttpError, NetworkError, RungateError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { type DetachedNames, decideMs } from '../../gate/detached/entry.ts';
import type { StatusState } from '../../gate/detached/github.ts';
import { collision } from '../../gate/detached/hub-calls.ts';
import { longestSealed, mostRuns } from '../../gate/detached/protocol.ts';
import {
  closing,
  describedAs,
  isOf,
  isOfOther,
  type OpeningStep,
  opening,
  stateOf,
} from '../../gate/detached/steps.ts';
import { mayBeNamed } from '../../gate/fleet/protocol.ts';
import { isUnderWay, liveRuns } from '../../gate/plan/saved.ts';
import { decidingRuns } from '../../gate/report.ts';
import { runService } from '../../gate/service.ts';
import type { PlanState } from '../../gate/state.ts';
import type { EndEvent } from '../../library/reporter.ts';
import type { Context } from '../context.ts';
import { type Detached, jobIn } from './detached-tools.ts';
import type { Keeping, Kept } from './keeping.ts';
import type { StoredGate } from './store.ts';

/** How long a job waits for a run of which a delivery may have said that it has ended. */
const usualWaitMs = 2 * 60_000;
const renewMs = 60_000;
/** For the cancel of a run whose gate is replaced. */
const cancelTimeoutMs = 10_000;

interface Replaced extends DetachedNames {
  sealed: string;
}

/** `kind`: that of the gate, as the hub has it. */
export interface FirstJob extends DetachableJob {
  kind: string;
}

/** A gate whose state the hub keeps, in one job. */
export class DetachedJob implements Keeping {
  readonly chosen: Keeping['chosen'];
  /** The next job goes on with the run of one that is stopped. */
  readonly stopCancels = false;
  readonly #context: Context;
  readonly #detached: Detached;
  readonly #names: DetachedNames;
  /** Null in a job that goes on with the gate. */
  readonly #first: FirstJob | null;
  /** Set in a job that goes on with other gates afterwards. */
  readonly #waitMs: number | undefined;
  #isPending: boolean;
  #hasEnded = false;
  /** The gates whose commit status this one may change. */
  #mayChange: readonly string[];
  #replaced: readonly Replaced[] = [];
  /** The runs that earlier jobs have begun. This one waits for them, or reads them again. */
  readonly #known: ReadonlySet<string | undefined>;
  /** The runs that this job has seen in progress. */
  readonly #read = new Set<string>();
  #leave = () => {};
  readonly #leaving = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });

  constructor(
    context: Context,
    detached: Detached,
    names: DetachedNames,
    gate: StoredGate,
    { first, waitMs }: { first: FirstJob | null; waitMs?: number | undefined },
  ) {
    const isKnown = first === null;
    this.chosen = { state: gate, isKnown, left: undefined };
    this.#context = context;
    this.#detached = detached;
    this.#names = names;
    this.#first = first;
    this.#waitMs = waitMs;
    this.#isPending = isKnown;
    this.#known = new Set(Object.values(gate.plan?.gates ?? {}).map(({ run }) => run?.id));
    this.#mayChange = [names.id];
  }

  /** Runs before anything is sent to the service. */
  async begin(): Promise<void> {
    const first = this.#first;
    if (first === null) {
      if (this.chosen.state.plan !== null) return;
      // Its commit status may never have been pending.
      throw new ConfigError('the job that started this gate ended before it created a run', {
        hint: 're-run the job of the pull request',
      });
    }
    const steps: Record<OpeningStep, () => Promise<void>> = {
      register: () => this.#register(first),
      compare: () => this.#compare(first),
      pend: async () => {
        await this.#setStatus(this.#names, 'pending', 'no verdict yet', null);
        this.#isPending = true;
      },
      confirm: () => this.#save({}),
      replace: async () => {
        for (const one of this.#replaced) await this.#replace(one);
      },
    };
    for (const step of opening) await steps[step]();
  }

  async #register({ ref, pull, order, kind }: FirstJob): Promise<void> {
    const request = { ...this.#names, ref, pull, order, kind, job: this.#job, ...this.#handed() };
    if (request.sealed.length > longestSealed)
      throw new ConfigError('the hub keeps at most 64 KiB of a gate, and this one has more', {
        hint: 'shorten its settings, or leave out --detach',
      });
    const { replaced, startsJobs } = await this.#detached.hub.register(request);
    this.#replaced = replaced;
    if (startsJobs) return;
    await this.#context.output.warn(
      'the hub starts no jobs: it has no token of GitHub',
      'schedule rungate gate --resume-pending, or set RUNGATE_GITHUB_TOKEN where the hub runs',
    );
  }

  async #compare({ kind }: FirstJob): Promise<void> {
    if (!isOfOther(await this.#detached.github.statusOf(this.#names), kind)) return;
    await this.#save({ done: true });
    throw collision();
  }

  write(): Promise<void> {
    return this.#save({});
  }

  written(plan: PlanState): void {
    const hasBegun = liveRuns(this.chosen.state).some((id) => !this.#known.has(id));
    if (hasBegun && isUnderWay(plan)) this.#leave();
  }

  async leaves(signal: AbortSignal, { save, problem }: Kept): Promise<void> {
    const { clock } = this.#context.io;
    const renewing = async () => {
      for (;;) {
        await clock.sleep(renewMs, signal);
        await save(() => {});
        // The hub may be back: without a lease it would start another job.
        if (problem() !== null) await this.#save({}).catch(() => {});
      }
    };
    renewing().catch(() => {});
    if (this.#first !== null) return this.#leaving;
    await Promise.race([clock.sleep(this.#waitMs ?? usualWaitMs, signal), this.#leaving]);
  }

  read(runId: string): void {
    this.#read.add(runId);
    // Other gates wait for this job.
    if (this.#waitMs !== undefined && liveRuns(this.chosen.state).every((id) => this.#read.has(id)))
      this.#leave();
  }

  async left(event: EndEvent): Promise<void> {
    const steps: Record<(typeof closing.waiting)[number], () => Promise<void>> = {
      release: () => this.#save({ released: true }),
    };
    for (const step of closing.waiting) await steps[step]();
    if (event.report.result !== 'waiting') return;
    event.exitCode = exitCodes.ok;
    event.report.exitCode = exitCodes.ok;
    event.report.hint = `no verdict yet: the commit status "${this.#names.context}" is pending, and decides`;
  }

  async ended(event: EndEvent, left: readonly (string | null)[]): Promise<void> {
    this.#hasEnded = true;
    const { result } = event.report;
    const runs = decidingRuns(event.runs());
    const run = runs.find(({ action }) => action === 'fail') ?? runs[0];
    const { interruptedBy } = event.report;
    const stopped = interruptedBy === undefined ? result : `stopped by ${interruptedBy}`;
    const text = run?.verdict ?? event.error?.code ?? stopped;
    if (!this.#isPending) {
      const { error } = event;
      const isTaken =
        error instanceof UsageError || (error instanceof HttpError && error.error === 'replaced');
      // Then another gate has set the commit status.
      if (!isTaken) await this.#giveUp(text);
      return;
    }
    const page = webUrl(run?.appUrl ?? null);
    const state = stateOf(result, event.exitCode);
    const isSet = await inTime(
      decideMs,
      async (signal) => {
        const steps = {
          decide: async () => {
            const { older } = await this.#detached.hub.decide({ id: this.#names.id, job: this.#job });
            this.#mayChange = [this.#names.id, ...older];
          },
          look: () => this.#look(signal),
          set: () => this.#setStatus(this.#names, state, text, page, signal),
          finish: () => {
            this.chosen.state.reported = left;
            return this.#save({ done: true });
          },
        } satisfies Record<(typeof closing.ended)[number], () => Promise<void>>;
        for (const step of closing.ended) {
          signal.throwIfAborted();
          await steps[step]();
        }
        return true;
      },
      this.#context.io.clock,
    );
    if (isSet === true) {
      const { output } = this.#context;
      await output.alert(`the commit status "${output.excerpt(this.#names.context, 255)}" is ${state}`);
      return;
    }
    throw new NetworkError('deadline', 'the commit status could not be set in time', {
      hint: 'it stays pending; the hub starts another job',
    });
  }

  /** The command failed around the gate. */
  async failed(): Promise<void> {
    if (this.#first !== null && !this.#hasEnded) await this.#giveUp('the gate could not begin');
  }

  /** An older success of the commit must not stand for a gate that could not begin. If this fails, the hub starts a job. */
  async #giveUp(text: string): Promise<void> {
    try {
      await this.#setStatus(this.#names, 'error', text, null);
      // The hub may have kept the gate although its response was lost.
      await this.#save({ done: true });
    } catch {}
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { context, id } = this.#names;
    if (isOf(await this.#detached.github.statusOf(this.#names, signal), this.#mayChange)) return;
    // No job could decide it.
    await this.#save({ done: true });
    throw new ConfigError(`the commit status "${context}" is not that of gate ${id} any more`, {
      hint: 'another gate or somebody else has set it: this result changes nothing',
    });
  }

  async close(): Promise<void> {
    await this.#detached.close();
  }

  get #job(): string {
    return jobIn(this.#context.io);
  }

  #handed() {
    const { state } = this.chosen;
    return {
      sealed: this.#detached.sealed(state, this.#names),
      // The hub finds no other id in deliveries: the job of such a run comes at the timeout.
      runs: liveRuns(state).filter(mayBeNamed).slice(0, mostRuns),
      endsInMs: state.endsAt - this.#context.io.clock.now(),
    };
  }

  async #save({ done = false, released = false }): Promise<void> {
    const { id } = this.#names;
    await this.#detached.hub.save({ id, job: this.#job, ...this.#handed(), done, released });
  }

  async #setStatus(
    names: DetachedNames,
    state: StatusState,
    text: string,
    page: string | null,
    signal?: AbortSignal,
  ): Promise<void> {
    const status = { state, description: describedAs(text, names.id) };
    const { buildUrl } = detectCi(this.#context.io.env);
    await this.#detached.github.setStatus(names, status, page ?? buildUrl, signal);
  }

  /** Tells a gate of an older commit of the pull request that it is replaced, and cancels its runs. Neither must succeed. */
  async #replace({ sealed: text, ...names }: Replaced): Promise<void> {
    // The same commit has the new status already, and a re-run of the job goes on with the same run.
    if (names.commit === this.#names.commit || this.#first?.pull === null) return;
    const { output, io } = this.#context;
    const failed = async (what: string, error: unknown) => {
      if (!(error instanceof RungateError)) throw error;
      await output.warn(`${what}: ${output.excerpt(error.message)}`);
    };
    // Only the seal shows that the names are those of a gate.
    const gate = this.#detached.unsealed(text, names)?.gate;
    if (gate === undefined) return;
    await this.#setReplaced(names).catch((error) =>
      failed(`the commit status of gate ${names.id} was not set`, error),
    );
    const service = runService(await this.#context.connect(), io.clock.now);
    for (const runId of liveRuns(gate))
      await service
        .cancel(runId, 'rungate: a newer commit of the pull request', { timeoutMs: cancelTimeoutMs })
        .catch((error) => failed(`run ${output.excerpt(runId, 80)} of gate ${names.id} goes on`, error));
  }

  async #setReplaced(names: DetachedNames): Promise<void> {
    const status = await this.#detached.github.statusOf(names);
    // The hub may not have heard that it is decided.
    if (status?.state !== 'pending' || !isOf(status, [names.id])) return;
    await this.#setStatus(names, 'error', 'replaced by a newer commit', null);
  }
}
