import { type HubLink, HubLinks, type HubLinkTools, type HubUser } from '../../../src/gate/fleet/hub-link.ts';
import type {
  GrantRequest,
  HubClient,
  HubEvent,
  RequestClass,
  SentRequests,
} from '../../../src/gate/fleet/protocol.ts';

/** Returns the link of the only gate of a process. */
export const createHubLink = (
  client: HubClient,
  { onChange, ...tools }: HubLinkTools & Pick<HubUser, 'onChange'>,
): HubLink => {
  const links = new HubLinks(client, tools);
  return { ...links.open({ name: 'shop / checkout', onChange }), close: () => links.close() };
};

/** A gate's request for a grant. */
export const request = (of: RequestClass, more: Partial<GrantRequest> = {}): GrantRequest => ({
  ...{ class: of, waitedMs: 0, gate: null, runId: null },
  ...more,
});

/** A stream that a link has opened. */
export interface FakeStream {
  readonly runIds: readonly string[];
  readonly lastId: string | null;
  /** Whether the link has left it, or it has ended. */
  ended: boolean;
  send(event: HubEvent): void;
  end(): void;
  fail(error: unknown): void;
}

/** A request for a grant that is waiting. */
export interface FakeGrant {
  readonly of: RequestClass;
  readonly waitedMs: number;
  readonly asked: GrantRequest;
  /** @param idleMs how long the hub has granted nothing */
  settle(granted: boolean, idleMs?: number): void;
  fail(error: unknown): void;
}

export interface FakeHub {
  readonly client: HubClient;
  /** All streams, in order. */
  readonly streams: FakeStream[];
  /** The grants that wait. */
  readonly grants: FakeGrant[];
  /** Requests that were sent without a grant, as gates reported them. */
  readonly sent: SentRequests[];
  /** The reported times of refused requests, in milliseconds. */
  readonly limited: number[];
  /** The requests in order: `stream`, or the class of a grant. */
  readonly log: string[];
}

/**
 * A hub's client that does what the test says.
 * @param onStream called with each new stream
 * @param onGrant called with each new request for a grant
 */
export function fakeHub(
  onStream: (stream: FakeStream) => void = (stream) => stream.send({ type: 'ready' }),
  onGrant: (grant: FakeGrant) => void = (grant) => grant.settle(true),
): FakeHub {
  const hub: FakeHub = {
    streams: [],
    grants: [],
    sent: [],
    limited: [],
    log: [],
    client: {
      follow(runIds, lastId, onEvent, signal) {
        hub.log.push('stream');
        return new Promise((resolve, reject) => {
          const leave = () => {
            stream.ended = true;
            signal.removeEventListener('abort', abort);
          };
          const abort = () => stream.fail(signal.reason);
          const stream: FakeStream = {
            runIds,
            lastId,
            ended: false,
            send(event) {
              if (!stream.ended) onEvent(event);
            },
            end() {
              leave();
              resolve();
            },
            fail(error) {
              leave();
              reject(error);
            },
          };
          hub.streams.push(stream);
          signal.addEventListener('abort', abort, { once: true });
          onStream(stream);
        });
      },
      grant(asked, signal) {
        const { class: of, waitedMs } = asked;
        hub.log.push(of);
        return new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason);
          const leave = () => {
            const at = hub.grants.indexOf(grant);
            if (at >= 0) hub.grants.splice(at, 1);
            signal.removeEventListener('abort', abort);
          };
          const abort = () => {
            leave();
            reject(signal.reason);
          };
          const grant: FakeGrant = {
            ...{ of, waitedMs, asked },
            settle(granted, idleMs = Number.POSITIVE_INFINITY) {
              leave();
              resolve(granted ? { granted } : { granted, idleMs });
            },
            fail(error) {
              leave();
              reject(error);
            },
          };
          hub.grants.push(grant);
          signal.addEventListener('abort', abort, { once: true });
          onGrant(grant);
        });
      },
      async limited(retryAfterMs) {
        hub.limited.push(retryAfterMs);
      },
      async sent(requests) {
        hub.sent.push(requests);
      },
    },
  };
  return hub;
}
