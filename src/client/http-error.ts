import type { Endpoint } from '../contract/endpoint.ts';
import { HttpError, type NameOf } from '../errors.ts';
import { type JsonNode, parseJson } from '../json/parse.ts';
import { isTooLarge } from '../json/tokens.ts';
import type { PreparedRequest, RawReply } from '../transport/transport.ts';
import { expiryOf, mistakeIn, whenText } from './credential-problems.ts';
import { credentialIn } from './credentials.ts';
import { clockOf, parseRetryAfter } from './retry.ts';

/** Headers with the id of an exchange: those of services first, then those of proxies. */
const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'cf-ray',
  'x-amzn-trace-id',
  'traceparent',
];

export function requestId(headers: Readonly<Record<string, string>>): string | undefined {
  const value = idHeaders.map((name) => headers[name]).find((id) => id !== undefined && id !== '');
  return value === undefined ? undefined : oneLine(value, 200);
}

/** Returns whether the response may have a new secret: a request that fails with 5xx may have taken effect. */
export function mayHaveNewSecret({ newSecret }: Endpoint, status: number): boolean {
  return newSecret === true && (status < 300 || status >= 500);
}

export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

export function isHtml(text: string): boolean {
  return /^\s*<(!doctype html|html|head|body)\b/i.test(text);
}

/** Characters. A page's title is near its start, so the rest of a large body is not searched. */
const longestHead = 16 * 1024;

/** Returns a summary of a body that is not JSON: the title of a page, or its first characters. */
export function gist(text: string): string {
  // The ellipsis marks a secret that may be cut off.
  const head = text.length > longestHead ? `${text.slice(0, longestHead)}…` : text;
  if (!isHtml(head)) return oneLine(head, 200);
  const [, inner = '', end] = /<title\b[^<>]*>([^<]*)(<\/title)?/i.exec(head) ?? [];
  // As above: a secret may contain `<`.
  const title = `${inner.trim()}${inner !== '' && end === undefined ? '…' : ''}`.replace(/……$/, '…');
  return `an HTML page${title ? `, "${oneLine(title, 200)}"` : ''}`;
}

/** Characters: enough for any explanation, and short enough for a log. */
const longestField = 2000;

/** A field of an error body: its value, and its text for messages, with every digit. */
interface ErrorField {
  value: unknown;
  text: string;
}

function fieldOf(node: JsonNode | undefined): ErrorField | undefined {
  const value = node?.value ?? null;
  if (node === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : node.text;
  const cut = text.length > longestField ? `${text.slice(0, longestField)}…` : text;
  return { value: cut === text ? value : cut, text: cut };
}

/** Reads the error body, or one that resembles it. */
function explanation(text: string): { error: string | undefined; details: ErrorField | undefined } {
  const none = { error: undefined, details: undefined };
  try {
    if (isTooLarge(text)) return none;
    const body = parseJson(text);
    const first = (...names: readonly string[]) => names.map((name) => fieldOf(body.member(name)?.value));
    const error = first('error', 'message', 'title').find(
      (field) => typeof field?.value === 'string' && field.value !== '',
    );
    return { error: error?.text, details: first('details', 'detail').find((field) => field !== undefined) };
  } catch {
    return none;
  }
}

function notFoundHint({ endpoint, path }: PreparedRequest, nameOf: NameOf): string {
  if (!/\/api(?:\/|$)/.test(path)) return 'paths of the service begin with /api, such as /api/environments';
  // Every path of the API begins with /api; anything before it is a prefix of the base URL.
  const prefix = path.slice(0, Math.max(0, path.lastIndexOf('/api/')));
  const what =
    endpoint === 'run.trigger'
      ? 'the slugs of the project and the process, the tags, and the key of the environment'
      : 'the id';
  const check = `check ${what}; a 404 can also mean that the resource belongs to another account`;
  if (prefix === '') return check;
  return `check ${nameOf('apiUrl')}, which ends in ${prefix}: rungate adds /api itself; otherwise ${check}`;
}

/** The remedy if a request that must not be repeated may have taken effect. */
export const mayHaveActed = 'the service may have acted on the request: check that before you send it again';

interface Explanation {
  fact: string;
  hint?: string | undefined;
}

function explainRefused(
  credential: ReturnType<typeof credentialIn>,
  now: number,
  nameOf: NameOf,
): Explanation {
  const { what, value } = credential ?? { what: 'credential', value: '' };
  const expiry = what === 'bearer token' ? expiryOf(value) : null;
  const known =
    expiry !== null && expiry <= now
      ? `it expired ${whenText(expiry, now)}: sign in to the service again, and use the new token`
      : credential && mistakeIn(credential.what, value, nameOf);
  const may =
    known ?? `it may be mistyped, expired, deleted, or belong to another service; ${nameOf('credentials')}`;
  const setting = what === 'API key' ? 'apiKey' : 'token';
  return {
    fact: `the service refused the ${credential?.what ?? 'request'} (401)`,
    hint: `check ${credential === null ? 'the credential' : nameOf(setting)}: ${may}`,
  };
}

function explainStatus(status: number, request: PreparedRequest, now: number, nameOf: NameOf): Explanation {
  const credential = credentialIn(request.headers);
  if (status === 401) return explainRefused(credential, now, nameOf);
  if (status === 403) {
    const ofWhat = credential?.what === 'API key' ? 'scopes of the key' : 'permissions of the account';
    return {
      fact: `the ${credential?.what ?? 'request'} is not allowed to do this (403)`,
      hint: `check the ${ofWhat}; ${nameOf('credentials')}`,
    };
  }
  if (status === 404) return { fact: 'the service found nothing (404)', hint: notFoundHint(request, nameOf) };
  if (status === 429)
    return {
      fact: "the service's rate limit is reached (429)",
      hint: 'wait a minute, or send fewer requests',
    };
  if (status >= 500) {
    const hint = request.repeatable ? 'try again later' : mayHaveActed;
    return { fact: `the service failed (${status})`, hint };
  }
  if (status < 300 || status >= 400) return { fact: `the service refused the request (${status})` };
  const fact = `the service responded with a redirect (${status})`;
  return { fact, hint: `check ${nameOf('apiUrl')}` };
}

/**
 * @param now wall-clock milliseconds since the epoch, for a `Retry-After` date
 * @param isHidden show no text of the body
 */
export function refusal(
  request: PreparedRequest,
  response: RawReply,
  { now, isHidden, nameOf }: { now: number; isHidden: boolean; nameOf: NameOf },
): HttpError {
  const { status, headers } = response;
  const text = isHidden ? '' : response.text;
  const { error, details } = explanation(text);
  const { fact, hint } = explainStatus(status, request, now, nameOf);
  const reason = [error ?? gist(text), details?.text].filter((part) => part).join(': ');
  const why = reason === '' ? '' : `: ${oneLine(reason, 500)}`;
  // An HTML page instead of JSON probably does not come from the service, unless a server before it is busy.
  const elsewhere = isHtml(text) && status < 500 && status !== 429;
  const otherwise = status === 401 || status === 403 ? `; otherwise ${hint}` : '';
  const elsewhereHint = `check ${nameOf('apiUrl')}: it may not be the URL of the service${otherwise}`;
  return new HttpError(`${fact} for ${request.method} ${request.path}${why}`, {
    status,
    error,
    details: details?.value,
    requestId: requestId(headers),
    retryAfterMs: parseRetryAfter(headers['retry-after'], clockOf(headers, now)),
    hint: elsewhere ? elsewhereHint : hint,
  });
}
