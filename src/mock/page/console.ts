import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { eventTypes, type StoredDelivery } from '../data/webhooks.ts';
import type { ReceivedRequest, RecordedRequest } from '../exchange.ts';
import { isDeliveryKind } from '../faults/delivery-kinds.ts';
import type { Fault } from '../faults/faults.ts';
import { faultNames, faultTargets, parseFault } from '../faults/parse.ts';
import { endings, endRun } from '../handlers/run.ts';
import { sendAgain, sendTest } from '../handlers/webhooks.ts';
import { isLoopbackAddress } from '../listen.ts';
import {
  errorResponse,
  jsonResponse,
  MockError,
  type RawResponse,
  requireFound,
  textResponse,
} from '../response.ts';
import { checkValue, jsonOfBytes } from '../validate.ts';
import style from './page.css?raw';
import markup from './page.html?raw';
import script from './page.js?raw';
import { knownSecrets, redactedRequest, redactedUrl } from './redaction.ts';
import { findRun, type Note, type Scene, Snapshot, webhooksOf } from './snapshot.ts';

/** Status codes to offer as faults: those that services and proxies commonly send. */
const statuses = ['400', '401', '403', '404', '409', '429', '500', '502', '503', '504'];

function options(values: readonly string[]): string {
  return values.map((value) => `<option>${value}</option>`).join('');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Allows only the page's own style and script and requests to the mock, and no HTML from text. */
export const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Returns the page as one file. It holds no data except the token for requesting it. */
export function pageHtml(token: string): string {
  const parts: Readonly<Record<string, string>> = {
    token,
    statuses: options(statuses),
    requestKinds: options(faultNames.filter((kind) => !isDeliveryKind(kind))),
    deliveryKinds: options(faultNames.filter(isDeliveryKind)),
    endpoints: options(faultTargets),
    events: options(eventTypes.map(({ type }) => type)),
  };
  return markup
    .replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => parts[name] ?? '')
    .replace('<style>', (tag) => tag + style)
    .replace('<script type="module">', (tag) => tag + script);
}

const id = z.string();

const actionBody = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('end'), run: id, as: z.enum(endings) }),
  z.strictObject({ do: z.literal('test'), webhook: id }),
  z.strictObject({ do: z.literal('retry'), delivery: id }),
  z.strictObject({ do: z.literal('fault'), fault: z.string() }),
  z.strictObject({ do: z.literal('off'), fault: z.int() }),
]);

function refuseAction(problems: string): MockError {
  return new MockError(422, 'Not an action', problems);
}

/** Performs an action, as a request to the service would, and returns a message about it. */
export function act({ state, faults, tenantSecret }: Scene, bytes: Uint8Array): string {
  const action = checkValue(actionBody, jsonOfBytes(bytes), 'body', refuseAction);
  const webhooks = webhooksOf(state);
  switch (action.do) {
    case 'end': {
      const run = requireFound(findRun(state, action.run), 'Run', action.run);
      const ended = endRun(state, run, action.as, "ended on the mock's page");
      return ended ? `${run.id} ended as ${action.as}` : `${run.id} has already ended`;
    }
    case 'test': {
      const target = webhooks.find(({ id }) => id === action.webhook);
      const webhook = requireFound(target, 'Webhook', action.webhook);
      const { status } = sendTest(state, webhook);
      const url = redactedUrl(webhook.url, knownSecrets(state, tenantSecret));
      return `Test event to ${url}: ${status.replace('_', ' ')}`;
    }
    case 'retry': {
      const target = webhooks.find(({ deliveries }) => deliveries.has(action.delivery));
      const webhook = requireFound(target, 'Delivery', action.delivery);
      const { eventType, status } = sendAgain(state, webhook, action.delivery);
      return `${eventType} sent again: ${status.replace('_', ' ')}`;
    }
    case 'fault':
      try {
        faults.add(parseFault(action.fault));
      } catch (error) {
        throw refuseAction((error as Error).message);
      }
      return `Fault ${action.fault} is on`;
    case 'off':
      return faults.remove(action.fault) ? 'The fault is off' : 'The fault was already off';
  }
}

const actionsPath = '/_mock/page/';

const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

function forbid(details: string): never {
  throw new MockError(403, 'Forbidden', details);
}

/** Allows any site to link to the page, which shows nothing without its token, but none to embed it. */
function guardPage({ method, headers }: ReceivedRequest): void {
  const { 'sec-fetch-dest': destination = 'document' } = headers;
  if (destination !== 'document') forbid(`the page cannot be loaded as ${destination}`);
  if (method !== 'GET' && method !== 'HEAD')
    throw new MockError(405, 'Method not allowed', 'the page allows only GET', { allow: 'GET, HEAD' });
}

/**
 * Allows only the page itself to read data and perform actions. Another page in the same browser can send
 * requests here, but it can neither read the token, nor use this machine's name, nor hide its origin.
 */
function guardActions({ headers }: ReceivedRequest, token: string): void {
  const { host, origin, 'sec-fetch-site': site = 'same-origin', 'x-mock-page': sent } = headers;
  if (origin !== undefined && origin !== `http://${host}`) forbid(`requests from ${origin} are not allowed`);
  if (site !== 'same-origin') forbid('only the page itself may send this request');
  if (sent !== token) forbid('the mock was restarted: reload the page');
}

function handleAction(scene: Scene, { method, path, query, bytes }: ReceivedRequest): unknown {
  switch (`${method} ${path.slice(actionsPath.length)}`) {
    case 'GET state':
      return new Snapshot(scene).of(query.run);
    case 'GET request': {
      const named = scene.requests.find((request) => scene.note(request).number === Number(query.number));
      const request = requireFound(named, 'Request', String(query.number));
      return { text: redactedRequest(request, knownSecrets(scene.state, scene.tenantSecret)) };
    }
    case 'POST do':
      return { message: act(scene, bytes) };
    default:
      throw new MockError(404, 'Not found', `the page has no endpoint ${method} ${path}`);
  }
}

export function createConsole(parts: Pick<Scene, 'state' | 'faults' | 'requests' | 'tenantSecret'>) {
  const token = crypto.randomUUID();
  const { clock } = parts.state;
  const notes = new WeakMap<RecordedRequest, Note>();
  const faultKindOf = new WeakMap<RecordedRequest | StoredDelivery, string>();
  let noted = 0;
  const note = (request: RecordedRequest) => {
    const known = notes.get(request) ?? { number: ++noted };
    notes.set(request, known);
    return known;
  };
  const faultOf: Scene['faultOf'] = (affected) => faultKindOf.get(affected);
  const scene = { ...parts, note, faultOf, openedAt: clock.now(), offset: clock.now() - clock.monotonic() };

  async function respond(exchange: ReceivedRequest): Promise<RawResponse> {
    if (!isLoopbackAddress(exchange.address)) forbid('only this machine can open the page');
    if (exchange.path.startsWith(actionsPath)) {
      guardActions(exchange, token);
      return jsonResponse(200, handleAction(scene, exchange));
    }
    guardPage(exchange);
    return textResponse(200, pageHtml(token), {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    });
  }

  return {
    owns: (path: string) =>
      path === '/' || path.startsWith(actionsPath) || /^\/projects\/[^/]+\/runs\/[^/]+$/.test(path),
    async handle(exchange: ReceivedRequest): Promise<RawResponse> {
      const { headers, ...rest } = await respond(exchange).catch(errorResponse);
      return { ...rest, headers: { ...commonHeaders, ...headers } };
    },
    onResponse(request: RecordedRequest, { status, body }: RawResponse): void {
      if (request.endpoint !== 'run.trigger' || status !== 201) return;
      const { runId } = JSON.parse(Buffer.from(body).toString('utf8')) as { runId: string };
      note(request).runId = runId;
    },
    onFault(affected: RecordedRequest | StoredDelivery, fault: Fault): void {
      faultKindOf.set(affected, fault.kind === 'status' ? String(fault.status) : fault.kind);
    },
  };
}
