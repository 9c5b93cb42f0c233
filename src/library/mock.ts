import { systemClock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import type { DeliveryStatus } from '../mock/data/webhooks.ts';
import type { RecordedRequest } from '../mock/exchange.ts';
import type { Fault } from '../mock/faults/faults.ts';
import type { MockOptions } from '../mock/options.ts';
import type { Ending } from '../mock/runs.ts';
import type { State } from '../mock/state.ts';
import { ownCopy } from '../own-options.ts';

/** A run of the mock, as it stood when it was looked at (interface, sections 2.5 to 2.7). */
export interface MockRun {
  runId: string;
  state: 'in_progress' | 'completed' | 'cancelled';
  /** Items that have failed so far. */
  failed: number;
  /** Items that are blocked so far. */
  blocked: number;
  appUrl: string;
  /** What it was started with. */
  request: TriggerBody;
  /** What whoever cancelled it said; null where it was not cancelled, or nothing was said. */
  cancelReason: string | null;
}

/** A delivery that the mock has made since it was started, as it stood when it was looked at (interface, section 6). */
export interface MockDelivery {
  id: string;
  webhookId: string;
  eventType: string;
  /** `pending`: under way; `not_sent`: recorded, and nothing went over the network (see `deliveries` of the options). */
  status: DeliveryStatus;
  /** The receiver's answer to the last attempt; null when there was none. */
  responseStatus: number | null;
  attempts: number;
  /** RFC 3339. */
  createdAt: string;
  payload: Readonly<Record<string, unknown>>;
}

/** What goes wrong between a client and the mock. */
export interface MockFaults {
  add(fault: Fault): void;
  /** Forgets all that are not used up. */
  clear(): void;
  /** How many are not used up. */
  readonly pending: number;
  /** Those that are not used up, with what is left of them. */
  readonly list: readonly Fault[];
}

/** A running mock of the service. */
export interface Mock {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  /** A user session's bearer token, of the same account as the key. */
  readonly token: string;
  /** The credentials of another account, which has orders, environments, observations and webhooks of its own. */
  readonly otherAccount: { readonly apiKey: string; readonly token: string };
  /** What came over the wire, oldest first; the last 10,000. */
  readonly requests: readonly RecordedRequest[];
  /** The runs that were created, oldest first. */
  readonly runs: readonly MockRun[];
  /** The deliveries since the start, oldest first. */
  readonly deliveries: readonly MockDelivery[];
  readonly faults: MockFaults;
  /** Ends a run now, whatever was planned for it; false where it had ended already, or there is no such run. */
  endRun(runId: string, as: Ending): boolean;
  /** Resolves once no webhook delivery is under way. */
  deliveriesSent(): Promise<void>;
  /** Stops listening and breaks what is still open, so that it never waits for a client. */
  close(): Promise<void>;
}

/** The deliveries since then: the data set has older ones, which nobody made. */
function deliveriesSince(state: State, tenant: string, startedAt: number): MockDelivery[] {
  return [...state.account(tenant).webhooks.values()]
    .flatMap(({ deliveries }) => [...deliveries.values()])
    .filter(({ lastAttemptAt }) => Date.parse(lastAttemptAt) >= startedAt)
    .map(({ lastAttemptAt: _, ...delivery }) => delivery)
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
}

/**
 * Starts a mock of the whole service on a socket of this machine, for a test suite of your own. It keeps the process alive
 * until it is closed. The first call loads it: a program that only wants a client does not pay for it.
 * @throws ConfigError where the port is taken; UsageError for a list of no outcomes
 */
export async function startMock(given: MockOptions = {}): Promise<Mock> {
  const options = ownCopy(given);
  if (options.counts !== undefined) options.counts = ownCopy(options.counts);
  if (options.data !== undefined) options.data = ownCopy(options.data);
  if (options.faults !== undefined) options.faults = options.faults.map(ownCopy);
  const [server, { automationScopes, seededCredentials }, { endRun, progressNow }, account] =
    await Promise.all([
      import('../mock/server.ts'),
      import('../mock/auth.ts'),
      import('../mock/runs.ts'),
      import('../mock/data/account.ts'),
    ]);
  const startedAt = (options.clock ?? systemClock).now();
  const mock = await server.startMock(options);
  const { url, port, apiKey, token, state, requests, faults } = mock;
  const { homeTenant, otherTenant, otherSeed } = account;
  const otherAccount = seededCredentials(otherSeed(options.seed ?? 1), otherTenant);
  const [tenant, scopes] = [otherTenant, automationScopes];
  state.credentials.set(otherAccount.apiKey, { kind: 'key', tenant, scopes });
  state.credentials.set(otherAccount.token, { kind: 'token', tenant });
  return {
    url,
    port,
    apiKey,
    token,
    otherAccount,
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
      return deliveriesSince(state, homeTenant, startedAt);
    },
    faults,
    endRun(runId, as) {
      const run = state.runs.get(runId);
      return run !== undefined && endRun(state, run, as, 'ended by the test');
    },
    deliveriesSent: () => mock.deliveriesSent(),
    close: () => mock.close(),
  };
}
