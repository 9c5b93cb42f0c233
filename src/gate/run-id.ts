import { oneLine } from '../client/http-error.ts';
import type { Conceal } from '../conceal.ts';
import { run } from '../contract/run.ts';
import { ContractError, UsageError } from '../errors.ts';
import { excerpt } from '../sanitize.ts';
import { fillPath, paramProblem } from '../transport/address.ts';

/** The places where services of this kind put the id of a run they have created, in order of preference. */
const places: readonly (readonly string[])[] = [
  ['runId'],
  ['id'],
  ['run', 'runId'],
  ['run', 'id'],
  ['data', 'runId'],
  ['data', 'id'],
];

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

/** The text of what may be meant as an id; `isUsable` says whether it is one. */
function asId(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null;
}

function isUsable(id: string): boolean {
  return id.length <= longestId && !/[/\\]/.test(id) && paramProblem(id) === null;
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

/** The id of the run that a path leads to: `/api/ci/runs/r-1`, `/test-runs/r-1/status`; null if it names no run. */
export function runInPath(path: string): string | null {
  const segments = path.split('/');
  const at = segments.findLastIndex((segment, index) => /runs?$/i.test(segment) && segments[index + 1]);
  try {
    return at < 0 ? null : decodeURIComponent(segments[at + 1] ?? '');
  } catch {
    return null;
  }
}

function runInLocation(location: string): string | null {
  // Without the host, which is not a path segment.
  return runInPath(location.split(/[?#]/)[0]?.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*/i, '') ?? '');
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
function trace(reply: unknown, location: string | undefined, conceal: Conceal): string {
  const keys = typeof reply === 'object' && reply !== null ? Object.keys(reply).slice(0, 20).join(', ') : '';
  const fields = keys === '' ? 'no fields' : `the fields ${oneLine(keys, 500, conceal)}`;
  return location === undefined ? fields : `${fields}, and Location ${oneLine(location, 200, conceal)}`;
}

const shown = (id: string, conceal: Conceal) => `the string ${oneLine(JSON.stringify(id), 60, conceal)}`;

function unusable(field: string, received: string, more: string): ContractError {
  return new ContractError(`the service created a run whose id cannot be used: "${field}" is ${received}`, {
    field,
    expected: `an id of at most ${longestId} characters, without slashes or control characters`,
    received,
    hint: `find the run in the service, and cancel it there if it is not wanted; the response has ${more}`,
  });
}

/**
 * The id of the run that a create response names; the interface does not show that response.
 * @param pointer the setting `run.idPointer`, which comes before the usual places
 * @param request the body that was sent
 * @param conceal takes secrets out of what an error shows
 * @throws ContractError if there is no usable id, which says what the response has instead
 */
export function runIdOf(
  reply: unknown,
  location: string | undefined,
  pointer: string | undefined,
  request: object,
  conceal: Conceal,
): string {
  const pointed = pointer === undefined ? null : parsePointer(pointer);
  const found = (path: readonly string[]) => asId(at(reply, path));
  const own = pointed === null ? null : found(pointed);
  const place = places.find((path) => found(path) !== null);
  if (pointed !== null && own !== null && repeatsRequest(pointed, own, request)) {
    const other = place === undefined ? '' : `; ${place.join('.')} is ${shown(found(place) ?? '', conceal)}`;
    throw new ContractError(
      `run.idPointer ${pointer} leads to a field that repeats the request, so it does not say which run was created${other}`,
      {
        field: pointer ?? '',
        expected: 'an id that the service has chosen',
        received: shown(own, conceal),
        hint: `set run.idPointer to the field with the id of the run; the response has ${trace(reply, location, conceal)}`,
      },
    );
  }
  const inLocation = location === undefined ? null : runInLocation(location);
  const candidates: [string, string | null][] = [
    [pointer ?? '', own],
    [place?.join('.') ?? '', place === undefined ? null : found(place)],
    ['Location', inLocation],
  ];
  const [field, id] = candidates.find(([, text]) => text !== null) ?? ['', null];
  if (id === null) {
    const received = trace(reply, location, conceal);
    throw new ContractError(`the create response does not say which run was created: it has ${received}`, {
      field: pointer ?? 'runId',
      expected: 'the id of the run',
      received,
      hint: 'name the place of the id as a JSON pointer in the setting run.idPointer, for example /data/run/key',
    });
  }
  if (!isUsable(id)) throw unusable(field, shown(id, conceal), trace(reply, location, conceal));
  return id;
}

/** Refuses an id that cannot be a path segment: of several runs, all are looked at before the first is read. */
export function checkRunId(runId: string): void {
  fillPath('run.status', run['run.status'], { runId });
}

/** The last part of an address's path: what a run's own page ends in. */
function lastPart(address: string): string | null {
  const [path = ''] = address.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/);
  return path.split('/').findLast((part) => part !== '') ?? null;
}

/**
 * A run id as somebody typed or pasted it.
 * @throws UsageError where it cannot be one, or where more was pasted than the id
 */
export function givenRunId(text: string): string {
  if (/^https?:\/\//i.test(text.trim())) {
    const id = lastPart(text.trim());
    throw new UsageError('<runId> is an address, and the id of a run is wanted', {
      hint:
        id === null
          ? 'give the id as run trigger printed it'
          : `its last part is likely the id: ${excerpt(id, 80)}`,
    });
  }
  if (text !== text.trim() && text.trim() !== '') {
    throw new UsageError(`<runId> has white space around it: ${JSON.stringify(excerpt(text, 80))}`, {
      hint: `give it without: ${excerpt(text.trim(), 80)}`,
    });
  }
  checkRunId(text);
  return text;
}
