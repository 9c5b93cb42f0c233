import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Exchange, RecordedRequest } from '../exchange.ts';
import type { Fault } from '../faults/faults.ts';
import { parseFault } from '../faults/parse.ts';
import { sendAgain, sendTest } from '../handlers/webhooks.ts';
import { isLoopbackAddress } from '../listen.ts';
import { errorReply, jsonReply, known, MockError, type Reply, textReply } from '../reply.ts';
import { endings, endRun } from '../runs.ts';
import { check, parseJson } from '../validate.ts';
import { secretsOf, shownRequest, shownUrl } from './mask.ts';
import { findRun, type Note, type Scene, Snapshot, webhooksOf } from './snapshot.ts';

const id = z.string();

/** What a click asks for. */
const actionBody = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('end'), run: id, as: z.enum(endings) }),
  z.strictObject({ do: z.literal('test'), webhook: id }),
  z.strictObject({ do: z.literal('retry'), delivery: id }),
  z.strictObject({ do: z.literal('fault'), fault: z.string() }),
  z.strictObject({ do: z.literal('off'), fault: z.int() }),
]);

function refuse(problems: string): MockError {
  return new MockError(422, 'Not an action', problems);
}

/** Does what a click asks for, as a request to the service would, and says what was done. */
export function act({ state, faults, tenantSecret }: Scene, bytes: Uint8Array): string {
  const action = check(actionBody, parseJson(bytes), 'body', refuse);
  const webhooks = webhooksOf(state);
  switch (action.do) {
    case 'end': {
      const run = known(findRun(state, action.run), 'Run', action.run);
      const ended = endRun(state, run, action.as, 'by hand, on the page of the mock');
      return ended ? `${run.id} ended as ${action.as}` : `${run.id} had ended before`;
    }
    case 'test': {
      const found = webhooks.find((one) => one.id === action.webhook);
      const webhook = known(found, 'Webhook', action.webhook);
      const { status } = sendTest(state, webhook);
      const url = shownUrl(webhook.url, secretsOf(state, tenantSecret));
      return `Test event to ${url}: ${status.replace('_', ' ')}`;
    }
    case 'retry': {
      const found = webhooks.find(({ deliveries }) => deliveries.has(action.delivery));
      const webhook = known(found, 'Delivery', action.delivery);
      const { eventType, status } = sendAgain(state, webhook, action.delivery);
      return `${eventType} sent again: ${status.replace('_', ' ')}`;
    }
    case 'fault':
      try {
        faults.add(parseFault(action.fault));
      } catch (error) {
        throw refuse((error as Error).message);
      }
      return `Fault ${action.fault} is on`;
    case 'off':
      return faults.remove(action.fault) ? 'The fault is off' : 'The fault was off already';
  }
}

const calls = '/_mock/page/';

const always = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Anything under this name is for the page alone. */
function forbid(details: string): never {
  throw new MockError(403, 'Forbidden', details);
}

/** Who may load the page: it shows nothing by itself, so a link from anywhere may lead to it, but nobody embeds it. */
function guardPage({ method, headers }: Exchange): void {
  const { 'sec-fetch-dest': destination = 'document' } = headers;
  if (destination !== 'document') forbid(`the page is no ${destination}`);
  if (method !== 'GET' && method !== 'HEAD')
    throw new MockError(405, 'Method not allowed', 'the page takes GET', { allow: 'GET, HEAD' });
}

/**
 * Who may read what the page shows, and do what its buttons do: the page itself. Another page in the same browser
 * can send requests here, but it cannot read the token; nor can it take this machine's name, or hide its own.
 */
function guardCalls({ headers }: Exchange, token: string): void {
  const { host, origin, 'sec-fetch-site': site = 'same-origin', 'x-mock-page': shown } = headers;
  if (origin !== undefined && origin !== `http://${host}`) forbid(`not from ${origin}`);
  if (site !== 'same-origin') forbid('only from the page itself');
  if (shown !== token) forbid('the mock was started again: load the page anew');
}

function answerCall(scene: Scene, { method, path, query, bytes }: Exchange): unknown {
  switch (`${method} ${path.slice(calls.length)}`) {
    case 'GET state':
      return new Snapshot(scene).of(query.run);
    case 'GET request': {
      const found = scene.requests.find((one) => scene.note(one).number === Number(query.number));
      const request = known(found, 'Request', String(query.number));
      return { text: shownRequest(request, secretsOf(scene.state, scene.tenantSecret)) };
    }
    case 'POST do':
      return { said: act(scene, bytes) };
    default:
      throw new MockError(404, 'Not found', `the page has no ${method} ${path}`);
  }
}

/** The page of a mock, and what it asks for. */
export type Console = ReturnType<typeof createConsole>;

export function createConsole(parts: Pick<Scene, 'state' | 'faults' | 'requests' | 'tenantSecret'>) {
  const token = randomUUID();
  const { clock } = parts.state;
  const notes = new WeakMap<RecordedRequest, Note>();
  let noted = 0;
  const note = (request: RecordedRequest) => {
    const found = notes.get(request) ?? { number: ++noted };
    notes.set(request, found);
    return found;
  };
  const scene = { ...parts, note, openedAt: clock.now(), offset: clock.now() - clock.monotonic() };

  async function reply(exchange: Exchange): Promise<Reply> {
    if (!isLoopbackAddress(exchange.address)) forbid('the page is for this machine only');
    if (exchange.path.startsWith(calls)) {
      guardCalls(exchange, token);
      return jsonReply(200, answerCall(scene, exchange));
    }
    guardPage(exchange);
    // The largest part, and needed only once somebody looks.
    const { pageHtml, policy } = await import('./document.ts');
    return textReply(200, pageHtml(token), {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    });
  }

  return {
    /** Whether a path is the page's; all others are the service's. */
    owns: (path: string) =>
      path === '/' || path.startsWith(calls) || /^\/projects\/[^/]+\/runs\/[^/]+$/.test(path),
    async answer(exchange: Exchange): Promise<Reply> {
      const { headers, ...rest } = await reply(exchange).catch(errorReply);
      return { ...rest, headers: { ...always, ...headers } };
    },
    /** Hears what the service answered to a request. */
    saw(request: RecordedRequest, { status, body }: Reply): void {
      if (request.endpoint !== 'run.trigger' || status !== 201) return;
      const { runId } = JSON.parse(Buffer.from(body).toString('utf8')) as { runId: string };
      note(request).runId = runId;
    },
    /** Hears which fault a request met. */
    spoiled(request: RecordedRequest, fault: Fault): void {
      note(request).fault = fault.kind === 'status' ? String(fault.status) : fault.kind;
    },
  };
}
