import type { Endpoint } from '../contract/endpoint.ts';
import { HttpError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import type { Redact } from '../redact.ts';
import { redactJson } from '../redact-json.ts';
import type { PreparedRequest, RawReply } from '../transport/transport.ts';
import { oddLook } from './credential-problems.ts';
import { credentialIn } from './credentials.ts';
import { jsonLimits, jsonSize, membersOf } from './json-text.ts';
import { clockOf, parseRetryAfter } from './retry.ts';

/** Headers in which services and the proxies before them name an exchange, the service's own first. */
const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'cf-ray',
  'x-amzn-trace-id',
  'traceparent',
];

export function requestId(headers: Readonly<Record<string, string>>, redact: Redact): string | undefined {
  const value = idHeaders.map((name) => headers[name]).find((id) => id !== undefined && id !== '');
  return value === undefined ? undefined : redact(value).slice(0, 200);
}

/** True if the response may have a secret that nobody knows yet: a request that fails with 5xx may have been acted on. */
export function mayHaveNewSecret({ newSecret }: Endpoint, status: number): boolean {
  return newSecret === true && (status < 300 || status >= 500);
}

/** In one line, without secrets, at most `limit` characters. */
export function oneLine(text: string, limit: number, redact: Redact): string {
  const line = redact(text).replace(/\s+/g, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

export function isHtml(text: string): boolean {
  return /^\s*<(!doctype html|html|head|body)\b/i.test(text);
}

/** A page's title comes early; the rest of a body of megabytes is not searched. */
const longestHead = 16 * 1024;

/** What a body that is not JSON has to say: a page's title, or its first characters. */
export function gist(text: string, redact: Redact): string {
  const head = text.slice(0, longestHead);
  if (!isHtml(head)) return oneLine(head, 200, redact);
  const title = /<title\b[^<>]*>([^<]*)/i.exec(head)?.[1]?.trim();
  return `an HTML page${title ? `, "${oneLine(title, 200, redact)}"` : ''}`;
}

/** Enough for any explanation; a reply of megabytes does not go into a log. */
const longestField = 2000;

/** A field of an error body: text or any other JSON, and as text for a message, every digit as it came. */
interface ErrorField {
  value: unknown;
  text: string;
  /** As JSON text; undefined for a text, and for what was cut. */
  json?: string;
}

function fieldOf(json: string, redact: Redact): ErrorField | undefined {
  const value: unknown = JSON.parse(json);
  if (value === null) return undefined;
  const text = typeof value === 'string' ? redact(value) : redactJson(json, redact);
  const cut = text.length > longestField ? `${text.slice(0, longestField)}…` : text;
  if (typeof value === 'string' || cut !== text) return { value: cut, text: cut };
  return { value: text === json ? value : JSON.parse(text), text, json: text };
}

/** The error body (interface, section 7), or what comes closest to it. */
function explanation(
  text: string,
  redact: Redact,
): { error: string | undefined; details: ErrorField | undefined } {
  const none = { error: undefined, details: undefined };
  try {
    JSON.parse(text);
    if (jsonSize(text).depth > jsonLimits.depth) return none;
    const body = new Map(membersOf(text));
    const first = (...names: readonly string[]) =>
      names.map((name) => fieldOf(body.get(name) ?? 'null', redact));
    const error = first('error', 'message', 'title').find(
      (field) => typeof field?.value === 'string' && field.value !== '',
    );
    return { error: error?.text, details: first('details', 'detail').find((field) => field !== undefined) };
  } catch {
    return none;
  }
}

/** What may be wrong with an address that the service does not know. */
function notFoundHint({ endpoint, path }: PreparedRequest, { apiUrl }: HintNames): string {
  if (!/\/api(?:\/|$)/.test(path)) return 'paths of the service begin with /api, such as /api/environments';
  // Every path of the interface begins with /api: one that comes later is behind a prefix of the base URL.
  const prefix = path.slice(0, Math.max(0, path.lastIndexOf('/api/')));
  const what =
    endpoint === 'run.trigger'
      ? 'the project, the process or tags, and the environment: they go by their slugs and keys'
      : 'the id';
  const check = `check ${what}; the service also says so of what belongs to another account`;
  if (prefix === '') return check;
  return `check ${apiUrl}, which ends in ${prefix}: the paths of the service begin with /api by themselves; else ${check}`;
}

/** How web servers answer plain HTTP on a port for TLS. */
const wantsTls =
  /HTTP request (?:was sent )?to (?:an )?HTTPS (?:port|server)|speaking plain HTTP to an SSL-enabled/i;

/** What to do where a request that must not be repeated may have been acted on. */
export const mayHaveActed = 'the service may have acted on the request: check that before you send it again';

/** What happened, and what to do about it. */
function verdictOn(
  status: number,
  request: PreparedRequest,
  names: HintNames,
): { fact: string; hint: string | undefined } {
  const credential = credentialIn(request.headers);
  const what = credential?.what ?? 'request';
  if (status === 401) {
    const other = credential === null ? null : oddLook(credential.what, credential.value, names);
    const may = other ?? 'it may be mistyped, expired, deleted or of another service';
    const setting = what === 'API key' ? names.apiKey : names.token;
    const hint = `check ${credential === null ? 'the credential' : setting}: ${may}`;
    return { fact: `the service refused the ${what} (401)`, hint };
  }
  if (status === 403) {
    const scopes = credential?.what === 'API key' ? 'the scopes of the key' : 'what this account may do';
    return { fact: `the ${what} is not allowed to do this (403)`, hint: `check ${scopes}` };
  }
  if (status === 404) {
    const hint = notFoundHint(request, names);
    return { fact: 'the service knows nothing there (404)', hint };
  }
  if (status === 429) {
    return { fact: "the service's rate limit is reached (429)", hint: 'wait a minute, or send less' };
  }
  if (status >= 500) {
    const hint = request.repeatable ? 'try again later' : mayHaveActed;
    return { fact: `the service failed (${status})`, hint };
  }
  if (status >= 300 && status < 400) {
    return { fact: `the service answered with a redirect (${status})`, hint: `check ${names.apiUrl}` };
  }
  return { fact: `the service refused the request (${status})`, hint: undefined };
}

/**
 * The error of a reply that is not a success.
 * @param now wall-clock milliseconds since the epoch, for a `Retry-After` that is a date
 * @param hidden show no text of the body
 */
export function refusal(
  request: PreparedRequest,
  reply: RawReply,
  now: number,
  names = commandNames,
  hidden = false,
): HttpError {
  const { status, headers } = reply;
  const text = hidden ? '' : reply.text;
  const { redact } = request;
  // A service may well echo the key that it refuses.
  const { error, details } = explanation(text, redact);
  const { fact, hint } = verdictOn(status, request, names);
  const encoded = (headers['content-encoding'] ?? 'identity') !== 'identity';
  const said = encoded ? '' : [error ?? gist(text, redact), details?.text].filter((part) => part).join(': ');
  const why = said === '' ? '' : `: ${oneLine(said, 500, redact)}`;
  const plain =
    request.url.protocol === 'http:' && status === 400 && wantsTls.test(text.slice(0, longestHead));
  // A page for people where the interface says JSON: likely not the service at all.
  const elsewhere = isHtml(text) && status < 500 && status !== 401 && status !== 403 && status !== 429;
  return new HttpError(`${fact} for ${request.method} ${request.path}${why}`, {
    status,
    error,
    details: details?.value,
    detailsText: details?.json,
    requestId: requestId(headers, redact),
    retryAfterMs: parseRetryAfter(headers['retry-after'], clockOf(headers, now)),
    hint: plain
      ? `write https:// in place of http:// in ${names.apiUrl}`
      : elsewhere
        ? `check ${names.apiUrl}: what answers there may not be the service`
        : hint,
  });
}
