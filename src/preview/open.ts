import type { ExchangeEvent } from '../client/options.ts';
import { formatDuration } from '../duration.ts';
import { type StopListener, StoppedError, TimeoutError } from '../errors.ts';
import { stopBudgetMs } from '../gate/limits.ts';
import type { PlannedGate } from '../gate/plan/plan.ts';
import type { Preview } from '../gate/start.ts';
import { receiver, shownUrl } from '../transport/address.ts';
import { httpTransport } from '../transport/send.ts';
import { untilReady } from './ready.ts';
import { rejectIfAborted, SharedEnvironment, type SharedTools } from './shared-environment.ts';

interface PreviewTools extends Omit<SharedTools, 'stopping' | 'stopEnd'> {
  /** How to reach the deployments: with the same certificates and proxies as the service. */
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  onStop(listener: StopListener): () => void;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
}

/** Opens the previews of gates, which `attach` ties to their starts. */
export function openPreviews(tools: PreviewTools) {
  const { caPem, proxyEnv, clock, emit, nameOf, onStop, onExchange } = tools;
  const transport = httpTransport({ caPem, proxyEnv, to: receiver('deployment', nameOf) });
  const environments = new Map<string, SharedEnvironment>();
  const pages = new Map<string, Promise<void>>();
  /** Ends the waits. Not a gate's own signal, since several share them. */
  const stopping = new AbortController();
  const { signal } = stopping;
  let stopEnd = Number.POSITIVE_INFINITY;
  const unsubscribe = onStop((by) => {
    stopEnd = Math.min(stopEnd, clock.monotonic() + stopBudgetMs);
    stopping.abort(new StoppedError(by));
  });
  const shared: SharedTools = { ...tools, stopping: signal, stopEnd: () => stopEnd };

  async function waitForPage({ readyUrl, readyTimeoutMs }: Preview): Promise<void> {
    const note = (message: string) => emit({ type: 'note', message });
    note(`waiting for ${shownUrl(readyUrl)} to respond, for up to ${formatDuration(readyTimeoutMs)}`);
    const warning = await untilReady(readyUrl, readyTimeoutMs, {
      transport,
      clock,
      nameOf,
      onExchange,
      signal,
    });
    if (warning !== null) note(warning);
  }

  return {
    /** Returns the gate with a start that waits for the deployment, and creates and deletes the environment. */
    attach(gate: PlannedGate): PlannedGate {
      if (gate.start === undefined) return gate;
      const { start } = gate;
      const { preview } = start;
      const { environmentKey: key } = start.body;
      if (preview === undefined || typeof key !== 'string') return gate;
      const isForeseeable = start.chain.link.trust !== 'random' || gate.isResumed === true;
      const environment = environments.get(key) ?? new SharedEnvironment(key, preview, isForeseeable, shared);
      environments.set(key, environment);
      const page = `${preview.readyUrl.href} ${preview.readyTimeoutMs}`;
      /** Gates with one page share the wait for it. */
      const ready = (signal: AbortSignal) => {
        const waited = pages.get(page) ?? waitForPage(preview);
        pages.set(page, waited);
        return rejectIfAborted(waited, signal);
      };
      return { ...gate, start: { ...start, ready, environment } };
    },

    async end(): Promise<void> {
      stopping.abort(new TimeoutError('the gates have ended'));
      unsubscribe();
      await transport.close();
    },
  };
}
