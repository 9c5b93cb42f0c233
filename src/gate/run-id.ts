import { oneLine } from '../client/http-error.ts';
import { idText, membersOf, textAt } from '../client/json-text.ts';
import { shownBody } from '../client/shown-body.ts';
import { run, runIdPlaces } from '../contract/run.ts';
import { ContractError, UsageError } from '../errors.ts';
import type { Redact } from '../redact.ts';
import { excerpt } from '../sanitize.ts';
import { fillPath, paramProblem } from '../transport/address.ts';

export function at(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

/** Longer than any id that a path could carry. */
const longestId = 500;

/** The first name of the path that its object has more than once, so that nobody knows which of the values is meant. */
function ambiguousIn(json: string, path: readonly string[]): string | undefined {
  return path.find((name, depth) => {
    const members = membersOf(textAt(json, path.slice(0, depth)) ?? '');
    return members.filter(([other]) => other === name).length > 1;
  });
}

/** RFC 6901: `/data/run~1id` → `['data', 'run/id']`. */
export function parsePointer(pointer: string): string[] {
  if (!pointer.startsWith('/')) {
    throw new UsageError(`"${pointer}" is not a JSON pointer`, { hint: 'write for example /data/runId' });
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

/** The id of the run that a path leads to: `/api/ci/runs/r-1`, `/test-runs/r-1/status`; null if it names no run. */
export function runInPath(path: string): string | null {
  const segments = path.split('/');
  const at = segments.findLastIndex((segment, index) => /runs?$/i.test(segment) && segments[index + 1]);
  return decoded(at < 0 ? undefined : segments[at + 1]);
}

export function lastSegment(path: string): string | null {
  return decoded(path.split('/').findLast((segment) => segment !== ''));
}

/** Without the host, which is not a path segment. */
function pathOf(url: string): string {
  return url.split(/[?#]/)[0]?.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*/i, '') ?? '';
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** A service may write `refs/heads/fix/Old` as `old`. */
const short = (text: unknown) => String(text).trim().toLowerCase().split('/').at(-1);

/** Whether the response only repeats what the request says in a field of that name: anybody may choose that text. */
function repeatsRequest(path: readonly string[], id: string, request: object): boolean {
  const names = new Set(path.map(plain));
  return Object.entries(request).some(
    ([name, value]) => names.has(plain(name)) && [value].flat().some((one) => short(one) === short(id)),
  );
}

/** Returns what else a create response says about the run, to help find it. */
function trace(response: unknown, location: string | undefined, redact: Redact): string {
  const keys =
    typeof response === 'object' && response !== null ? Object.keys(response).slice(0, 20).join(', ') : '';
  const fields = keys === '' ? 'no fields' : `the fields ${oneLine(keys, 500, redact)}`;
  return location === undefined ? fields : `${fields}, and Location ${oneLine(location, 200, redact)}`;
}

/**
 * The id of the run that a create response names; the interface does not show that response.
 * @param json the text of the response
 * @param pointer the setting `run.idPointer`, which comes before the usual places
 * @param request the body that was sent
 * @param redact takes secrets out of what an error shows
 * @throws ContractError if there is no usable id, which says what the response has instead
 */
export function runIdOf(
  response: unknown,
  json: string,
  location: string | undefined,
  pointer: string | undefined,
  request: object,
  redact: Redact,
): string {
  const found = (path: readonly string[]) => (path.length === 0 ? null : idText(textAt(json, path)));
  const shown = (text: string) => `the string ${oneLine(JSON.stringify(text), 60, redact)}`;
  const has = () => trace(response, location, redact);
  const body = () => shownBody(json, redact);

  const pointed = pointer === undefined ? [] : parsePointer(pointer);
  const own = found(pointed);
  const place = runIdPlaces.find((path) => found(path) !== null) ?? [];
  const placed = found(place);
  if (own !== null && repeatsRequest(pointed, own, request)) {
    const other = placed === null ? '' : `; ${place.join('.')} is ${shown(placed)}`;
    throw new ContractError(
      `run.idPointer ${pointer} leads to a field that repeats the request, so it does not say which run was created${other}`,
      {
        field: pointer ?? '',
        expected: 'an id that the service has chosen',
        received: shown(own),
        hint: `set run.idPointer to the field with the id of the run; the response has ${has()}`,
        body: body(),
      },
    );
  }

  const candidates: [field: string, id: string | null, path: readonly string[]][] = [
    [pointer ?? '', own, pointed],
    [place.join('.'), placed, place],
    ['Location', location === undefined ? null : runInPath(pathOf(location)), []],
  ];
  const [field, id, path] = candidates.find(([, text]) => text !== null) ?? ['', null, []];
  const twice = ambiguousIn(json, path);
  if (twice !== undefined) {
    throw new ContractError(
      `the create response does not say which run was created: it has "${twice}" twice`,
      {
        field,
        expected: 'one id of a run',
        received: 'two values',
        hint: `find the run in the service, and cancel it there if it is not wanted; the response has ${has()}`,
        body: body(),
      },
    );
  }
  if (id === null) {
    throw new ContractError(`the create response does not say which run was created: it has ${has()}`, {
      field: pointer ?? 'runId',
      expected: 'the id of the run',
      received: has(),
      hint: 'name the place of the id as a JSON pointer in the setting run.idPointer, for example /data/run/key',
      body: body(),
    });
  }
  if (id.length > longestId || /[/\\]/.test(id) || paramProblem(id) !== null) {
    const received = shown(id);
    throw new ContractError(`the service created a run whose id cannot be used: "${field}" is ${received}`, {
      field,
      expected: `an id of at most ${longestId} characters, without slashes or control characters`,
      received,
      hint: `find the run in the service, and cancel it there if it is not wanted; the response has ${has()}`,
      body: body(),
    });
  }
  return id;
}

/** Refuses an id that cannot be a path segment: of several runs, all are checked before the first is read. */
export function checkRunId(runId: string): void {
  fillPath('run.status', run['run.status'], { runId });
}

/** What came in place of an id, as the end of a sentence, and how to get the id; null where it may be one. */
function pasteProblem(text: string): [string, string] | null {
  if (text === '') return ['is empty', 'check the variable that it comes from: run trigger prints the id'];
  if (/^(?:null|undefined)$/.test(text))
    return [`is ${text}`, 'the field that it was read from is not there: run trigger prints the id alone'];
  if (/^["'].*["']$/.test(text)) return ['has quotes around it', 'print it without them: jq -r'];
  if (/^[{[]/.test(text)) return ['is JSON, and the id of a run is wanted', 'take the id out: jq -r .runId'];
  if (/[\r\n]/.test(text)) return ['has several lines', 'give each id as an argument of its own'];
  return null;
}

/**
 * A run id as somebody typed or pasted it.
 * @throws UsageError where it cannot be one, or where more was pasted than the id
 */
export function parseRunId(text: string): string {
  const trimmed = text.trim();
  if (/^https?:\/\//i.test(trimmed)) {
    const id = lastSegment(pathOf(trimmed));
    throw new UsageError('<runId> is an address, and the id of a run is wanted', {
      hint:
        id === null
          ? 'give the id as run trigger printed it'
          : `its last part is likely the id: ${excerpt(id, 80)}`,
    });
  }
  if (text !== trimmed && trimmed !== '') {
    throw new UsageError(`<runId> has white space around it: ${JSON.stringify(excerpt(text, 80))}`, {
      hint: `give it without: ${excerpt(trimmed, 80)}`,
    });
  }
  const pasted = pasteProblem(trimmed);
  if (pasted !== null) throw new UsageError(`<runId> ${pasted[0]}`, { hint: pasted[1] });
  checkRunId(text);
  return text;
}
