import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { redactSecrets } from '../../redact.ts';
import { excerpt } from '../../sanitize.ts';
import type { ReceivedRequest, RecordedRequest } from '../exchange.ts';
import type { Fault, Faults } from '../faults/faults.ts';
import { isDeliveryKind } from '../faults/kinds.ts';
import { faultNames, parseFault } from '../faults/parse.ts';
import { endings, endRun, progressNow } from '../handlers/run.ts';
import { isLoopbackAddress } from '../listen.ts';
import {
  errorResponse,
  jsonResponse,
  MockError,
  type RawResponse,
  requireFound,
  textResponse,
} from '../response.ts';
import type { Run, RunProgress } from '../runs.ts';
import type { State } from '../state.ts';
import { checkValue, jsonOfBytes } from '../validate.ts';
import style from './page.css?raw';
import markup from './page.html?raw';
import script from './page.js?raw';

interface Scene {
  readonly state: State;
  readonly faults: Faults;
  /** Oldest first. */
  readonly requests: readonly RecordedRequest[];
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Allows only the page's own style and script and requests to the mock, and no HTML from text. */
const policy = [
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
function pageHtml(token: string): string {
  return markup
    .replace('{{token}}', token)
    .replace('{{kinds}}', ['503', ...faultNames].map((kind) => `<option value="${kind}">`).join(''))
    .replace('<style>', (tag) => tag + style)
    .replace('<script type="module">', (tag) => tag + script);
}

/** Failures before a cancellation take precedence. */
function shownResult({ state, failed, blocked }: RunProgress): string {
  if (state === 'in_progress') return 'in progress';
  if (failed > 0) return 'failed';
  if (blocked > 0) return 'blocked';
  return state === 'cancelled' ? 'cancelled' : 'passed';
}

function runRow(state: State, { id, request, startedAt }: Run) {
  const now = progressNow(state, requireFound(state.runs.get(id), 'Run', id));
  const { projectSlug, processSlug, tags } = request;
  const what = `${projectSlug} / ${processSlug ?? tags?.join(', ')}`;
  return {
    key: id,
    path: `/projects/${encodeURIComponent(projectSlug)}/runs/${encodeURIComponent(id)}`,
    result: shownResult(now),
    counts: `${now.failed} failed, ${now.blocked} blocked`,
    what: excerpt(redactSecrets(what, [...state.credentials.keys()])),
    at: new Date(startedAt + state.clock.now() - state.clock.monotonic()).toISOString(),
  };
}

function faultRow({ id, fault }: { id: number; fault: Fault }) {
  const { times = 1, skip = 0 } = fault;
  const [target, affected] = isDeliveryKind(fault.kind)
    ? [fault.event ?? 'every event', 'deliveries']
    : [fault.endpoint ?? 'every endpoint', 'requests'];
  const kind = fault.kind === 'status' ? `status ${fault.status}` : fault.kind;
  const remaining = `${affected} left: ${Number.isFinite(times) ? times : 'all'}`;
  return {
    key: id,
    name: `${kind} on ${target}`,
    remaining: skip === 0 ? remaining : `${remaining}, after the next ${skip}`,
  };
}

/** Without paths, headers and bodies, which may contain secrets. */
function requestRow({ at, method, endpoint, status }: RecordedRequest, index: number) {
  return {
    key: index,
    at: new Date(at).toISOString(),
    what: `${method} ${endpoint ?? '(no endpoint)'}`,
    status: status === null ? 'no response' : String(status),
  };
}

const most = 50;
const newest = <T>(items: readonly T[]): T[] => items.slice(-most).reverse();

function stateOf({ state, faults, requests }: Scene) {
  return {
    runs: newest([...state.runs.values()]).map((run) => runRow(state, run)),
    faults: faults.entries.map(faultRow),
    requests: newest(requests).map(requestRow),
  };
}

const actionBody = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('end'), run: z.string(), as: z.enum(endings) }),
  z.strictObject({ do: z.literal('fault'), fault: z.string() }),
  z.strictObject({ do: z.literal('off'), fault: z.int() }),
]);

function refuseAction(problems: string): MockError {
  return new MockError(422, 'Not an action', problems);
}

/** Performs an action and returns a message about it. */
function act({ state, faults }: Scene, bytes: Uint8Array): string {
  const action = checkValue(actionBody, jsonOfBytes(bytes), 'body', refuseAction);
  switch (action.do) {
    case 'end': {
      const run = requireFound(state.runs.get(action.run), 'Run', action.run);
      const ended = endRun(state, run, action.as, "ended on the mock's page");
      return ended ? `${run.id} ended as ${action.as}` : `${run.id} has already ended`;
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

function handleAction(scene: Scene, { method, path, bytes }: ReceivedRequest): unknown {
  switch (`${method} ${path.slice(actionsPath.length)}`) {
    case 'GET state':
      return stateOf(scene);
    case 'POST do':
      return { message: act(scene, bytes) };
    default:
      throw new MockError(404, 'Not found', `the page has no endpoint ${method} ${path}`);
  }
}

/** The mock's page: it shows runs and the last requests, ends runs, and makes faults. */
export function createConsole(scene: Scene) {
  const token = crypto.randomUUID();

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
  };
}
