import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayBeNamed } from '../gate/fleet/protocol.ts';
import { type JsonNode, parseJson } from '../json/parse.ts';
import { idText } from '../json/text.ts';
import { isTooLarge } from '../json/tokens.ts';
import { parseUrl } from '../parse-url.ts';
import type { HeaderNames } from '../webhook/headers.ts';
import { receiveIncoming } from '../webhook/receivers/incoming.ts';
import { statusOf } from '../webhook/receivers/public.ts';
import { createReplayGuard } from '../webhook/replay.ts';
import { type HubLogEvent, sendJson } from './http.ts';
import type { Wakes } from './wakes.ts';

/** More values than any delivery has. */
const mostValues = 1000;
/** One URL may have many path segments. */
const mostIds = 2000;

/** Yields the ids in JSON, the outermost first, so that a limit cuts off the innermost. */
function* idsIn(root: JsonNode): Generator<string> {
  const queue = [root];
  for (let index = 0; index < queue.length && index < 10 * mostValues; index += 1) {
    const node = queue[index] as JsonNode;
    const id = node.kind === 'scalar' ? idText(node.text) : null;
    if (id !== null) yield id;
    for (const element of node.elements) queue.push(element);
    for (const { value } of node.members) queue.push(value);
  }
}

/** The path segments of an absolute URL, decoded where they can be. */
function pathSegments(text: string): string[] {
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : null;
  if (url === null) return [];
  return url.pathname.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

/**
 * Returns everything in a delivery that may be a run's id: each string as a whole, each whole number with all its digits,
 * and each path segment of a URL. Event names and payloads are not shown, so nothing else is known
 * of them.
 * @param json the body, JSON; at most 1,000 of its values count, and 2,000 ids
 */
export function possibleRunIds(json: string): Set<string> {
  const ids = new Set<string>();
  if (isTooLarge(json)) return ids;
  let values = 0;
  for (const whole of idsIn(parseJson(json))) {
    values += 1;
    if (values > mostValues) break;
    for (const id of [whole, ...pathSegments(whole)]) {
      if (ids.size >= mostIds) return ids;
      if (mayBeNamed(id)) ids.add(id);
    }
  }
  return ids;
}

/** The secrets that a delivery may be signed with, as for `webhooks verify`. */
export interface DeliverySecrets {
  secrets: readonly string[];
  tenantSecret: string | undefined;
  headerNames: HeaderNames;
}

/** A delivery that is authentic. */
export interface ReceivedDelivery {
  /** Everything in it that may be a run's id. */
  ids: readonly string[];
  replay: boolean;
  ageSeconds: number;
}

/**
 * Returns a function that verifies a delivery. Nothing is remembered before its signature is right.
 * Another hub may accept the same delivery: that only causes a read.
 * @param now milliseconds since the epoch
 */
export function deliveryReceiver(
  { secrets, tenantSecret, headerNames }: DeliverySecrets,
  now: () => number,
): (request: IncomingMessage) => Promise<ReceivedDelivery> {
  const guard = createReplayGuard();
  const signed = tenantSecret === undefined ? { secrets: [...secrets] } : { tenantSecret };
  return async (request) => {
    const options = { ...signed, headerNames, now: () => new Date(now()) };
    const delivery = await receiveIncoming(request, options, 'the hub reads the body itself');
    const { verified, signature } = delivery;
    const replay = (await guard.check(verified, signature)) === 'replay';
    // Throws if the body is not JSON.
    delivery.json();
    const ids = replay ? [] : [...possibleRunIds(delivery.text())];
    return { ids, replay, ageSeconds: verified.ageSeconds };
  };
}

/** Deliveries that arrive at the same time, since anyone may send one, of up to 1 MiB. */
const mostDeliveries = 64;

/** Returns the handler of deliveries. */
export function createReceiving(
  receive: (request: IncomingMessage) => Promise<ReceivedDelivery>,
  wakes: Wakes,
  log: (event: HubLogEvent) => void,
) {
  /** The deliveries that are arriving, the oldest first. */
  const arriving = new Set<IncomingMessage>();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    arriving.add(request);
    for (const event of ['end', 'close']) request.once(event, () => arriving.delete(request));
    // An authentic delivery arrives in an instant: many slow ones must not keep it out.
    const [oldest] = arriving;
    if (arriving.size > mostDeliveries) oldest?.destroy();
    try {
      const { ids, replay, ageSeconds } = await receive(request);
      wakes.announce(ids);
      log({ type: 'delivery', ids: ids.length, replay, ageSeconds });
      sendJson(response, 204);
    } catch (error) {
      const status = statusOf(error);
      if (status === 500) log({ type: 'fault', error });
      const code = status === 500 ? 'error' : String((error as { code?: unknown }).code);
      log({ type: 'refused-delivery', code, status });
      response.setHeader('Connection', 'close');
      sendJson(response, status);
    }
  };
}
