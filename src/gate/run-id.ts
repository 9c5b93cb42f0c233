import type { Exchange } from '../client/caller.ts';
import { errorBody } from '../client/error-body.ts';
import { oneLine } from '../client/http-error.ts';
import { run, runIdPlaces } from '../contract/run.ts';
import { type NameOf, UnexpectedResponseError, UsageError } from '../errors.ts';
import type { JsonNode } from '../json/parse.ts';
import { idText, parseBody } from '../json/text.ts';
import { parseUrl } from '../parse-url.ts';
import { fillPath, paramProblem } from '../transport/address.ts';

/** The longest id that fits into a path with a wide margin. */
const longestId = 500;

/** Returns the first name of the path that its object has more than once, which makes the value ambiguous. */
export function ambiguousIn(json: JsonNode | undefined, path: readonly string[]): string | undefined {
  return path.find((name, depth) => {
    const { members = [] } = json?.at(path.slice(0, depth)) ?? {};
    return members.filter((member) => member.name === name).length > 1;
  });
}

/** Parses a JSON pointer (RFC 6901): `/data/run~1id` → `['data', 'run/id']`. */
export function parsePointer(pointer: string): string[] {
  if (!pointer.startsWith('/')) {
    throw new UsageError(`"${pointer}" is not a JSON pointer`, { hint: 'use a pointer such as /data/runId' });
  }
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the run id in an address such as `/api/ci/runs/r-1` or `https://ci.test/test-runs/r-1/status`; null without one. */
function runInUrl(url: string): string | null {
  const id = /^.*runs?\/+([^/]+)/i.exec(parseUrl(url, 'http://service')?.pathname ?? '')?.[1];
  try {
    return id === undefined ? null : decodeURIComponent(id);
  } catch {
    return null;
  }
}

const plainName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns whether the id repeats a field of the request with that name, whose text the caller chooses, not the service. */
function repeatsRequest(path: readonly string[], id: string, request: object): boolean {
  const names = new Set(path.map(plainName));
  return Object.entries(request).some(
    ([name, value]) => names.has(plainName(name)) && [value].flat().some((text) => String(text) === id),
  );
}

/** Describes what a create response has instead of an id, to help find the run. */
function trace(response: unknown, location: string | undefined): string {
  const keys = Object.keys(Object(response)).slice(0, 20).join(', ');
  const fields = keys === '' ? 'no fields' : `the fields ${oneLine(keys, 500)}`;
  return location === undefined ? fields : `${fields}, and Location ${oneLine(location, 200)}`;
}

type Created = Pick<Exchange, 'value' | 'text' | 'headers' | 'redact'>;

/**
 * Returns the run id from a create response, which the API does not describe: at the pointer, in the usual places of the
 * body, or in Location.
 * @param pointer the setting `run.idPointer`, which is read before the usual places
 * @throws UnexpectedResponseError if there is not a usable id; it says what the response has instead
 */
export function runIdOf(
  response: Created,
  pointer: string | undefined,
  request: object,
  nameOf: NameOf,
): string {
  const json = parseBody(response.text);
  const { location } = response.headers;
  // A repeated header is joined by commas.
  const located = (location?.split(/,\s+/) ?? []).flatMap((url) => runInUrl(url) ?? []);
  const idAt = (path: readonly string[]) => idText(json?.at(path)?.text);
  const own = pointer === undefined ? [] : parsePointer(pointer);
  const isOwn = pointer !== undefined && idAt(own) !== null;
  const path = isOwn ? own : runIdPlaces.find((place) => idAt(place) !== null);
  const id = path === undefined ? located[0] : (idAt(path) ?? undefined);
  const field = isOwn ? pointer : (path?.join('.') ?? (id === undefined ? (pointer ?? 'runId') : 'Location'));
  const has = trace(response.value, location);
  const find = `find the run in the service and cancel it if you do not need it; the response has ${has}`;
  const refuse = (message: string, expected: string, received: string, hint = find): never => {
    const body = errorBody(response.text, response.redact);
    throw new UnexpectedResponseError(message, { field, expected, received, hint, body });
  };
  const unclear = 'the response does not say which run was created';
  if (id === undefined)
    return refuse(
      `${unclear}: it has ${has}`,
      'a run id',
      has,
      `set ${nameOf('run.idPointer')} to the JSON pointer of the id, for example /data/run/key`,
    );
  if (isOwn && repeatsRequest(own, id, request))
    return refuse(
      `${unclear}: ${pointer} repeats a value of the request`,
      'an id chosen by the service',
      id,
      `point ${nameOf('run.idPointer')} to the field with the run id; the response has ${has}`,
    );
  const isTwice = path === undefined && located.some((other) => other !== id);
  const twice = isTwice ? 'Location' : ambiguousIn(json, path ?? []);
  if (twice !== undefined) return refuse(`${unclear}: it has "${twice}" twice`, 'one run id', 'two values');
  if (id.length <= longestId && !/[/\\]/.test(id) && paramProblem(id) === null) return id;
  const shown = `the string ${oneLine(JSON.stringify(id), 60)}`;
  const expected = `an id of at most ${longestId} characters, without slashes or control characters`;
  return refuse(`the service created a run whose id cannot be used: "${field}" is ${shown}`, expected, shown);
}

/** Refuses an id that cannot be a path segment. All ids are checked before the first run is read. */
export function checkRunId(runId: string): void {
  fillPath(run['run.status'], { runId });
}
