/** How many letters must be changed, put in, left out or swapped. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(changed, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}

/** `api-url`, `API_URL` and `apiUrl` are one name to a person. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The name that was probably meant, or null when none is near. */
export function nearest(name: string, names: readonly string[]): string | null {
  const given = plain(name).slice(0, 40);
  const ranked = names
    .map((one) => ({ one, far: Math.min(distance(given, plain(one)), distance(given, lastPart(one))) }))
    .toSorted((a, b) => a.far - b.far);
  const [best] = ranked;
  if (best === undefined || given === '') return null;
  // Of a single letter every short word would be a neighbour.
  const most = given.length < 2 ? 0 : Math.max(1, Math.floor(given.length / 3));
  return best.far <= most ? best.one : sharedBeginning(given, names);
}

/** `env` is meant as `environment`, and `projectSlug` as `project`. */
function sharedBeginning(given: string, names: readonly string[]): string | null {
  if (given.length < 3) return null;
  const related = names.filter((name) => {
    const known = plain(name);
    return known.startsWith(given) || (known.length >= 4 && given.startsWith(known));
  });
  const off = (name: string) => Math.abs(plain(name).length - given.length);
  return related.toSorted((a, b) => off(a) - off(b))[0] ?? null;
}

/** `timestampHeader` alone is meant as `webhook.timestampHeader`. */
function lastPart(name: string): string {
  return plain(name.slice(name.lastIndexOf('.') + 1));
}

/** What to write in a wrong word's place: the nearest right one, else all of them. */
export function instead(given: string, words: readonly string[]): string {
  const near = nearest(given, words);
  return near === null ? `write one of ${words.join(', ')}` : `did you mean ${near}?`;
}

/** No word of ours is as long as this, and no key is as short. */
const longest = 32;

/** A wrong word as a message may repeat it: where it is longer than any right one, it may be a misplaced secret. */
export function echoed(given: string): string {
  return isEchoed(given) ? JSON.stringify(given) : 'that';
}

/** Whether a message may repeat the word. */
export function isEchoed(given: string): boolean {
  return given.length <= longest;
}
