import { parseUrl } from '../parse-url.ts';

/** More values than any delivery has. */
const mostValues = 1000;
/** One URL may have many path segments. */
const mostIds = 2000;
/** Longer than any id. */
const longestId = 200;

/** The values of JSON, the outermost first, so that a limit cuts off the innermost. */
function* valuesOf(json: unknown): Generator<string | number> {
  const queue: unknown[] = [json];
  for (let at = 0; at < queue.length && at < 10 * mostValues; at += 1) {
    const value = queue[at];
    if (typeof value === 'string' || typeof value === 'number') yield value;
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) queue.push(inner);
  }
}

/** A whole number with more digits than JSON.parse keeps. */
const longNumber = /(?<![\w.+-])\d{16,200}(?![\w.])/g;

/** The path segments of an absolute URL, decoded where they can be. */
function segmentsOf(text: string): string[] {
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : null;
  if (url === null) return [];
  return url.pathname.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

/**
 * Returns everything in a delivery that may be a run's id: each string as a whole, each number, and each path segment of a
 * URL. Event names and payloads are not shown (interface, section 6), so nothing else is known of them.
 * @param json the parsed body; at most 1,000 of its values count, and 2,000 ids
 * @param text the body: `json` has lost digits of its longest numbers
 */
export function possibleRunIds(json: unknown, text: string): Set<string> {
  const ids = new Set(Array.from(text.matchAll(longNumber), ([number]) => number).slice(0, mostValues));
  let values = 0;
  for (const value of valuesOf(json)) {
    values += 1;
    if (values > mostValues) break;
    const whole = String(value);
    for (const id of [whole, ...segmentsOf(whole)]) {
      if (ids.size >= mostIds) return ids;
      if (id !== '' && id.length <= longestId && !/\s/.test(id)) ids.add(id);
    }
  }
  return ids;
}
