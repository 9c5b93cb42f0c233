import { ContractError, UsageError } from '../errors.ts';
import { oneLine } from '../http/refusal.ts';
import { readAppUrl } from './reading.ts';

/** The places where services of this kind put the id of a run they have created, in order of preference. */
const places: readonly (readonly string[])[] = [
  ['runId'],
  ['id'],
  ['run', 'runId'],
  ['run', 'id'],
  ['data', 'runId'],
  ['data', 'id'],
];

function at(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

/** Longer than any id that a path could carry. */
const longestId = 500;

function asId(value: unknown): string | null {
  if (typeof value === 'string' && value !== '' && value.length <= longestId) return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null;
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

function lastSegment(location: string | undefined): string | null {
  if (location === undefined) return null;
  // Without the host: it is no path segment, and must not be taken for a run.
  const path = location.split(/[?#]/)[0]?.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*/i, '') ?? '';
  const segment = path.split('/').findLast((part) => part !== '');
  if (segment === undefined || segment.length > longestId) return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/**
 * The id of the run that a create reply speaks of; the interface does not show that reply. `pointer` is the
 * setting `run.idPointer`, which comes before all else.
 */
export function runIdOf(reply: unknown, location: string | undefined, pointer?: string): string {
  const wanted = pointer === undefined ? places : [parsePointer(pointer), ...places];
  for (const place of wanted) {
    const id = asId(at(reply, place));
    if (id !== null) return id;
  }
  const fromLocation = lastSegment(location);
  if (fromLocation !== null) return fromLocation;
  const keys =
    typeof reply === 'object' && reply !== null
      ? oneLine(Object.keys(reply).slice(0, 20).join(', '), 500)
      : '';
  const received = keys === '' ? 'a reply without fields' : `the fields ${keys}`;
  throw new ContractError(`the service created a run, and its reply does not say which: ${received}`, {
    field: pointer ?? 'runId',
    expected: 'the id of the run',
    received,
    hint: 'name the place of the id as a JSON pointer in the setting run.idPointer, for example /data/run/key',
  });
}

/** The URL of the run, where the create reply has it. */
export function appUrlOf(reply: unknown): string | null {
  const url = at(reply, ['appUrl']) ?? at(reply, ['run', 'appUrl']) ?? at(reply, ['data', 'appUrl']);
  return readAppUrl(url);
}
