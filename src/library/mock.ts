import { systemClock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import type { DeliveryStatus } from '../mock/data/webhooks.ts';
import type { RecordedRequest } from '../mock/exchange.ts';
import type { Fault } from '../mock/faults/faults.ts';
import type { Ending } from '../mock/handlers/run.ts';
import type { MockOptions } from '../mock/options.ts';
import type { State } from '../mock/state.ts';

/** A snapshot of a run of the mock. */
export interface MockRun {
  runId: string;
  state: 'in_progress' | 'completed' | 'cancelled';
  /** Items that have failed so far. */
  failed: number;
  /** Items that are blocked so far. */
  blocked: number;
  appUrl: string;
  /** The request that created it. */
  request: TriggerBody;
  /** The reason given for cancelling it; null if it was not cancelled, or without a reason. */
  cancelReason: string | null;
}

/** A snapshot of a delivery since the mock was started. */
export interface MockDelivery {
  id: string;
  webhookId: string;
  eventType: string;
  /** `pending`: in flight; `not_sent`: only recorded, not sent over the network (see the option `deliveries`). */
  status: DeliveryStatus;
  /** The status code of the receiver's last response; null if it has not responded. */
  responseStatus: number | null;
  attempts: number;
  /** RFC 3339. */
  createdAt: string;
  payload: Readonly<Record<string, unknown>>;
}

/** The faults of requests to the mock and of its webhook deliveries. */
export interface MockFaults {
  add(fault: Fault): void;
  /** Removes all pending faults. */
  clear(): void;
  /** The number of pending faults. */
  readonly pending: number;
  /** The pending faults with their remaining counts. */
  readonly list: readonly Fault[];
}

/** A running mock of the service. */
export interface Mock {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  /** A bearer token of the same account as the API key. */
  readonly token: string;
  /** The last 10,000 requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** All runs, oldest first. */
  readonly runs: readonly MockRun[];
  /** The deliveries since the start, oldest first. */
  readonly deliveries: readonly MockDelivery[];
  readonly faults: MockFaults;
  /** Shows other versions on the version page, from now on: `new`, `old,new@30s` or `old/new`. */
  deploy(deployed: string): void;
  /** Ends a run now, whatever its planned outcome. Returns false if it has already ended or does not exist. */
  endRun(runId: string, as: Ending): boolean;
  /** Resolves when no webhook delivery is in flight. */
  deliveriesSent(): Promise<void>;
  /** Stops listening and breaks open connections, so that it never waits for a client. */
  close(): Promise<void>;
}

/** Returns the deliveries since the start, without the older ones of the data set. */
function deliveriesSince(state: State, startedAt: number): MockDelivery[] {
  return [...state.account.webhooks.values()]
    .flatMap(({ deliveries }) => [...deliveries.values()])
    .filter(({ lastAttemptAt }) => Date.parse(lastAttemptAt) >= startedAt)
    .map(({ lastAttemptAt: _, ...delivery }) => delivery)
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
}

/**
 * Starts a mock of the whole service on a socket of this machine, for your tests. It keeps the process alive
 * until it is closed. The mock is loaded on the first call, so programs that use only the client do not load it.
 * @throws ConfigError if the port is taken; UsageError if an option is unknown or has the wrong type
 * @example
 * ```ts
 * import { gate, startMock } from 'rungate';
 *
 * const mock = await startMock({ outcome: 'failed' });
 * const report = await gate({
 *   apiUrl: mock.url,
 *   apiKey: mock.apiKey,
 *   trigger: { projectSlug: 'shop', processSlug: 'checkout' },
 * });
 * console.log(report.result); // fail
 * await mock.close();
 * ```
 */
export async function startMock(given: MockOptions = {}): Promise<Mock> {
  const { endingFor, endRun, faultFor, mockOptionsOf, progressNow, startService, versionsFor } = await import(
    './mock-parts.ts'
  );
  const options = mockOptionsOf(given);
  const startedAt = (options.clock ?? systemClock).now();
  const mock = await startService(options);
  const { url, port, apiKey, token, state, requests, faults } = mock;
  return {
    url,
    port,
    apiKey,
    token,
    requests,
    get runs() {
      return [...state.runs.values()].map((run) => ({
        runId: run.id,
        ...progressNow(state, run),
        appUrl: run.appUrl,
        request: run.request,
        cancelReason: run.cancelled?.reason ?? null,
      }));
    },
    get deliveries() {
      return deliveriesSince(state, startedAt);
    },
    faults: {
      add: (fault) => faults.add(faultFor(fault)),
      clear: () => faults.clear(),
      get pending() {
        return faults.pending;
      },
      get list() {
        return faults.list;
      },
    },
    deploy: (deployed) => mock.deploy(versionsFor(deployed)),
    endRun(runId, as) {
      const [run, ending] = [state.runs.get(runId), endingFor(as)];
      return run !== undefined && endRun(state, run, ending, 'ended by the test');
    },
    deliveriesSent: () => mock.deliveriesSent(),
    close: () => mock.close(),
  };
}
