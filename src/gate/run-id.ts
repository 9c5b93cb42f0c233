import type { Exchange } from '../client/caller.ts';
import { errorBody } from '../client/error-body.ts';
import { oneLine } from '../client/http-error.ts';
import { run, runIdPlaces } from '../contract/run.ts';
import { UnexpectedResponseError, UsageError } from '../errors.ts';
import type { JsonNode } from '../json/parse.ts';
import { idText, parseBody } from '../json/text.ts';
import { excerpt } from '../sanitize.ts';
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

function decoded(segment: string | undefined): string | null {
  try {
    return segment === undefined ? null : decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Returns the run id in a path such as `/api/ci/runs/r-1` or `/test-runs/r-1/status`, or null if it has none. */
export function runInPath(path: string): string | null {
  const segments = path.split('/');
  const place = segments.findLastIndex((segment, index) => /runs?$/i.test(segment) && segments[index + 1]);
  return decoded(place < 0 ? undefined : segments[place + 1]);
}

export function lastSegment(path: string): string | null {
  return decoded(path.split('/').findLast((segment) => segment !== ''));
}

function pathOf(url: string): string {
  return url.split(/[?#]/)[0]?.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*/i, '') ?? '';
}

const plainName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Shortens a value as a service may do: `refs/heads/fix/Old` becomes `old`. */
const short = (text: unknown) => String(text).trim().toLowerCase().split('/').at(-1);

/** Returns whether the id repeats a field of the request with that name, whose text the caller chooses, not the service. */
function repeatsRequest(path: readonly string[], id: string, request: object): boolean {
  const names = new Set(path.map(plainName));
  return Object.entries(request).some(
    ([name, value]) => names.has(plainName(name)) && [value].flat().some((text) => short(text) === short(id)),
  );
}

/** Describes what a create response has instead of an id, to help find the run. */
function trace(response: unknown, location: string | undefined): string {
  const keys =
    typeof response === 'object' && response !== null ? Object.keys(response).slice(0, 20).join(', ') : '';
  const fields = keys === '' ? 'no fields' : `the fields ${oneLine(keys, 500)}`;
  return location === undefined ? fields : `${fields}, and Location ${oneLine(location, 200)}`;
}

/**
 * Returns the run id from a create response, which the API does not describe.
 * @param pointer the setting `run.idPointer`, which is read before the usual places
 * @throws UnexpectedResponseError if there is not a usable id; it says what the response has instead
 */
export function runIdOf(
  response: Pick<Exchange, 'value' | 'text' | 'headers' | 'redact'>,
  pointer: string | undefined,
  request: object,
): string {
  const { location } = response.headers;
  const json = parseBody(response.text);
  const idIn = (path: readonly string[]) => (path.length === 0 ? null : idText(json?.at(path)?.text));
  const shown = (text: string) => `the string ${oneLine(JSON.stringify(text), 60)}`;
  const has = () => trace(response.value, location);
  const body = () => errorBody(response.text, response.redact);

  const pointed = pointer === undefined ? [] : parsePointer(pointer);
  const pointedId = idIn(pointed);
  const place = runIdPlaces.find((path) => idIn(path) !== null) ?? [];
  const placed = idIn(place);
  if (pointedId !== null && repeatsRequest(pointed, pointedId, request)) {
    const other = placed === null ? '' : `; ${place.join('.')} is ${shown(placed)}`;
    throw new UnexpectedResponseError(
      (say) =>
        `${say('run.idPointer')} ${pointer} points to a field that repeats the request, so it does not say which run was created${other}`,
      {
        field: pointer ?? '',
        expected: 'an id chosen by the service',
        received: shown(pointedId),
        hint: (say) =>
          `point ${say('run.idPointer')} to the field with the run id; the response has ${has()}`,
        body: body(),
      },
    );
  }

  // A repeated header is joined by commas.
  const located = (location?.split(/,\s+/) ?? []).flatMap((url) => runInPath(pathOf(url)) ?? []);
  const candidates: [field: string, id: string | null, path: readonly string[]][] = [
    [pointer ?? '', pointedId, pointed],
    [place.join('.'), placed, place],
    ['Location', located[0] ?? null, []],
  ];
  const [field, id, path] = candidates.find(([, text]) => text !== null) ?? ['', null, []];
  const otherLocation = field === 'Location' && located.some((other) => other !== id);
  const twice = otherLocation ? 'Location' : ambiguousIn(json, path);
  if (twice !== undefined) {
    throw new UnexpectedResponseError(
      `the response does not say which run was created: it has "${twice}" twice`,
      {
        field,
        expected: 'one run id',
        received: 'two values',
        hint: `find the run in the service and cancel it if you do not need it; the response has ${has()}`,
        body: body(),
      },
    );
  }
  if (id === null) {
    throw new UnexpectedResponseError(`the response does not say which run was created: it has ${has()}`, {
      field: pointer ?? 'runId',
      expected: 'a run id',
      received: has(),
      hint: (say) => `set ${say('run.idPointer')} to the JSON pointer of the id, for example /data/run/key`,
      body: body(),
    });
  }
  if (id.length > longestId || /[/\\]/.test(id) || paramProblem(id) !== null) {
    const received = shown(id);
    throw new UnexpectedResponseError(
      `the service created a run whose id cannot be used: "${field}" is ${received}`,
      {
        field,
        expected: `an id of at most ${longestId} characters, without slashes or control characters`,
        received,
        hint: `find the run in the service and cancel it if you do not need it; the response has ${has()}`,
        body: body(),
      },
    );
  }
  return id;
}

/** Refuses an id that cannot be a path segment. All ids are checked before the first run is read. */
export function checkRunId(runId: string): void {
  fillPath('run.status', run['run.status'], { runId });
}

/** Returns what is wrong with a pasted id, as the end of a sentence, and how to get the id; null if nothing is. */
function pasteProblem(text: string): [string, string] | null {
  if (text === '') return ['is empty', 'check the variable that it comes from: run trigger prints the id'];
  if (/^(?:null|undefined)$/.test(text))
    return [`is ${text}`, 'the field that it was read from does not exist; run trigger prints only the id'];
  if (/^["'].*["']$/.test(text)) return ['has quotes around it', 'remove the quotes, for example with jq -r'];
  if (/^[{[]/.test(text)) return ['is JSON, not a run id', 'extract the id: jq -r .runId'];
  if (/[\r\n]/.test(text)) return ['has several lines', 'give each id as a separate argument'];
  return null;
}

/**
 * Returns a run id from the command line.
 * @throws UsageError if it cannot be an id, or has other text around it
 */
export function parseRunId(text: string): string {
  const trimmed = text.trim();
  if (/^https?:\/\//i.test(trimmed)) {
    const id = lastSegment(pathOf(trimmed));
    throw new UsageError('<runId> is a URL, not a run id', {
      hint:
        id === null
          ? 'give the id that run trigger printed'
          : `its last part is probably the id: ${excerpt(id, 80)}`,
    });
  }
  if (text !== trimmed && trimmed !== '') {
    throw new UsageError(`<runId> has whitespace around it: ${JSON.stringify(excerpt(text, 80))}`, {
      hint: `remove the whitespace: ${excerpt(trimmed, 80)}`,
    });
  }
  const pasted = pasteProblem(trimmed);
  if (pasted !== null) throw new UsageError(`<runId> ${pasted[0]}`, { hint: pasted[1] });
  checkRunId(text);
  return text;
}
