import { randomUUID } from 'node:crypto';
import type { Exchange, RecordedRequest } from '../exchange.ts';
import type { Fault } from '../faults/faults.ts';
import { isLoopbackAddress } from '../listen.ts';
import { errorReply, jsonReply, known, MockError, type Reply, textReply } from '../reply.ts';
import { act } from './actions.ts';
import { secretsOf, shownRequest } from './mask.ts';
import { createScene, type Scene } from './scene.ts';
import { oneRun, overview } from './snapshot.ts';

/** The header in which the page shows that it was loaded from here. */
export const tokenHeader = 'x-mock-page';

/** Anything under this name is for the page alone. */
function forbid(details: string): never {
  throw new MockError(403, 'Forbidden', details);
}

/** Who may load the page: it shows nothing by itself, so a link from anywhere may lead to it, but nobody embeds it. */
export function guardPage(exchange: Exchange): void {
  if (!isLoopbackAddress(exchange.address)) forbid('the page is for this machine only');
  const { 'sec-fetch-dest': destination = 'document' } = exchange.headers;
  if (destination !== 'document') forbid(`the page is no ${destination}`);
}

/**
 * Who may read what the page shows, and do what its buttons do: the page itself. Another page in the same browser
 * can send requests here, but it cannot read the token; nor can it take this machine's name, or hide its own.
 */
export function guardCalls(exchange: Exchange, token: string): void {
  if (!isLoopbackAddress(exchange.address)) forbid('the page is for this machine only');
  const {
    host = '',
    origin,
    'sec-fetch-site': site = 'same-origin',
    [tokenHeader]: shown,
  } = exchange.headers;
  if (origin !== undefined && origin !== `http://${host}`) forbid(`not from ${origin}`);
  if (site !== 'same-origin') forbid('only from the page itself');
  if (shown !== token) forbid('the mock was started again: load the page anew');
}

/** The page of a mock, and what it asks for. */
export interface Console {
  /** Whether a path is the page's; all others are the service's. */
  owns(path: string): boolean;
  answer(exchange: Exchange): Promise<Reply>;
  /** Hears what the service answered to a request. */
  saw(request: RecordedRequest, reply: Reply): void;
  /** Hears which fault a request met. */
  spoiled(request: RecordedRequest, fault: Fault): void;
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

async function answerPage(exchange: Exchange, token: string): Promise<Reply> {
  guardPage(exchange);
  if (!['GET', 'HEAD'].includes(exchange.method)) {
    throw new MockError(405, 'Method not allowed', 'the page takes GET', { allow: 'GET, HEAD' });
  }
  // The largest part, and needed only once somebody looks.
  const { pageHtml, policy } = await import('./document.ts');
  const headers = {
    ...always,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
  };
  return textReply(200, pageHtml(token), headers);
}

function answerCall(scene: Scene, { method, path, query, bytes }: Exchange): unknown {
  switch (`${method} ${path.slice(calls.length)}`) {
    case 'GET state':
      return typeof query.run === 'string' ? oneRun(scene, query.run) : overview(scene);
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

export function createConsole(parts: Parameters<typeof createScene>[0]): Console {
  const scene = createScene(parts);
  const token = randomUUID();
  return {
    owns: (path) => path === '/' || path.startsWith(calls) || /^\/projects\/[^/]+\/runs\/[^/]+$/.test(path),
    async answer(exchange) {
      try {
        if (!exchange.path.startsWith(calls)) return await answerPage(exchange, token);
        guardCalls(exchange, token);
        return jsonReply(200, answerCall(scene, exchange), always);
      } catch (error) {
        const reply = errorReply(error);
        return { ...reply, headers: { ...always, ...reply.headers } };
      }
    },
    saw(request, reply) {
      if (request.endpoint !== 'run.trigger' || reply.status !== 201) return;
      const { runId } = JSON.parse(Buffer.from(reply.body).toString('utf8')) as { runId: string };
      scene.note(request).runId = runId;
    },
    spoiled(request, fault) {
      scene.note(request).fault = fault.kind === 'status' ? String(fault.status) : fault.kind;
    },
  };
}
