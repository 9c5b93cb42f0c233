/** The version of the protocol between gates and hubs. */
export const hubVersion = 1;

/** The service counts in minutes; the way to it takes some requests up to 2 s longer than others. */
export const windowMs = 62_000;

/** The longest id of a run that a hub knows. */
export const longestId = 200;

/** Returns whether a hub finds the id in deliveries: it takes longer ones, and those with a space, for other texts. */
export const mayBeNamed = (id: string): boolean => id.length <= longestId && !/^$|\s/.test(id);

/** The kinds of requests that a hub grants: creating a run, the first read of a run, the read after a wake-up, any other read. */
export const requestClasses = ['create', 'first', 'confirm', 'safety'] as const;
export type RequestClass = (typeof requestClasses)[number];

/** An event of a hub's stream. Every event, and every heartbeat, shows that the hub is alive. */
export type HubEvent =
  | { type: 'ready' }
  | { type: 'heartbeat' }
  /** A delivery named the run. `id` resumes the stream after this event. */
  | { type: 'wake'; runId: string; id: string };

/** How long ago requests were sent without a grant, in milliseconds. */
export interface SentRequests {
  reads: readonly number[];
  creates: readonly number[];
}

export interface GrantRequest {
  class: RequestClass;
  /** How long the gate has waited for it, in milliseconds. */
  waitedMs: number;
  /** For the hub's log. */
  gate: string | null;
  runId: string | null;
}

/** The response to a request for a grant. `idleMs`: how long the hub has granted no such request to anyone; Infinity if it does not say. */
export type Grant = { granted: true } | { granted: false; idleMs: number };

/** The requests to a hub. Each throws a RungateError when the hub fails, and the signal's reason when that is aborted. */
export interface HubClient {
  /** Follows a stream from the beginning or after an event. Resolves when the hub ends it. */
  follow(
    runIds: readonly string[],
    lastId: string | null,
    onEvent: (event: HubEvent) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Asks for a grant. If the hub had none within the time that one request may take, ask again. */
  grant(request: GrantRequest, signal: AbortSignal): Promise<Grant>;
  /** Reports that the service has refused a request because of its limit. */
  limited(retryAfterMs: number, signal: AbortSignal): Promise<void>;
  /** Reports requests that were sent without a grant. */
  sent(requests: SentRequests, signal: AbortSignal): Promise<void>;
}
