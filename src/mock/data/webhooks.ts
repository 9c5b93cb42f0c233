import { type Draw, drawer, seededDraw, seededIds } from '../random.ts';

/** The events that webhooks can be registered for. The API lists none. */
export const eventTypes = [
  { type: 'run.started', description: 'A run has started' },
  { type: 'run.completed', description: 'A run has ended, whatever its verdict' },
  { type: 'run.cancelled', description: 'A run was cancelled' },
  { type: 'observation.created', description: 'An observation was recorded' },
  { type: 'observation.changed', description: 'An observation was confirmed, archived or superseded' },
  { type: 'observation.promoted', description: 'An observation became a ticket or a wiki page' },
  { type: 'environment.created', description: 'An environment was created' },
  { type: 'environment.updated', description: 'Fields of an environment have changed' },
  { type: 'environment.deleted', description: 'An environment was deleted' },
  { type: 'webhook.test', description: 'A test delivery was requested' },
] as const;

/** The type of an event that the mock sends to webhooks. */
export type EventType = (typeof eventTypes)[number]['type'];

/** `pending`: in flight; `not_sent`: only recorded, not sent over the network. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'not_sent';

export interface StoredDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventType: string;
  status: DeliveryStatus;
  /** The status code of the receiver's last response; null if it has not responded. */
  responseStatus: number | null;
  attempts: number;
  readonly createdAt: string;
  lastAttemptAt: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface StoredWebhook {
  readonly id: string;
  readonly url: string;
  /** Null for a global one. */
  readonly projectId: string | null;
  readonly events: readonly string[];
  readonly createdAt: string;
  secretRotatedAt: string | null;
  /** Shown only when it is created or rotated. */
  secret: string;
  /** Newest last. */
  readonly deliveries: Map<string, StoredDelivery>;
}

type Receiver = readonly [url: string, projectId: string | null, events: readonly string[]];

const receivers: readonly Receiver[] = [
  ['https://chat.example.test/hooks/qa', null, ['run.completed', 'run.cancelled']],
  ['https://ci.example.test/rungate', 'shop', ['run.completed']],
  ['https://tickets.example.test/in?queue=shop', 'shop', ['observation.promoted']],
  ['https://dashboard.example.test/events', null, eventTypes.map(({ type }) => type)],
  ['https://ci.example.test/mobile', 'shop-mobile', ['run.started', 'run.completed']],
];

const hourMs = 3_600_000;

/** Returns a delivery's payload; all deliveries of the mock have this form. */
export function payloadOf(id: string, type: string, createdAt: string, data: Record<string, unknown>) {
  return { id, type, createdAt, data };
}

function makeDelivery(draw: Draw, id: string, webhook: StoredWebhook, at: number): StoredDelivery {
  const eventType = draw.pick(webhook.events);
  const delivered = draw.chance(0.85);
  const createdAt = new Date(at).toISOString();
  const data = { projectSlug: webhook.projectId ?? 'shop', runId: `run_${draw.id(12)}` };
  return {
    id,
    webhookId: webhook.id,
    eventType,
    status: delivered ? 'delivered' : 'failed',
    responseStatus: delivered ? 200 : draw.pick([500, 502, null]),
    attempts: delivered ? 1 : 5,
    createdAt,
    lastAttemptAt: createdAt,
    payload: payloadOf(id, eventType, createdAt, data),
  };
}

/** Returns webhooks in order of registration. */
export function makeWebhooks(
  seed: number,
  count: number,
  deliveries: number,
  until: number,
): StoredWebhook[] {
  const nextId = seededIds(seed, 'wh');
  const nextDeliveryId = seededIds(seed, 'dlv');
  const drawAt = drawer(seed, 'deliveries');
  return Array.from({ length: count }, (_, index): StoredWebhook => {
    const [url, projectId, events] = receivers[index % receivers.length] as Receiver;
    const webhook: StoredWebhook = {
      id: nextId(),
      url: index < receivers.length ? url : `${url}${url.includes('?') ? '&' : '?'}copy=${index}`,
      projectId,
      events,
      createdAt: new Date(until - (count - index) * 240 * hourMs).toISOString(),
      secretRotatedAt: null,
      secret: `whsec_${seededDraw(seed, `webhook ${index}`).token(32)}`,
      deliveries: new Map(),
    };
    for (let nth = 0; nth < deliveries; nth++) {
      const at = until - (deliveries - nth) * 5 * hourMs;
      const one = makeDelivery(drawAt(index * deliveries + nth), nextDeliveryId(), webhook, at);
      webhook.deliveries.set(one.id, one);
    }
    return webhook;
  });
}
