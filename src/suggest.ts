/** Returns the edit distance: how many letters must be changed, inserted, removed or swapped. */
export function distance(a: string, b: string): number {
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

/** Normalizes a name, so that `api-url`, `API_URL` and `apiUrl` are equal. */
export const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns the name that was probably meant, or null if none is similar. */
export function nearest(name: string, names: readonly string[]): string | null {
  const typed = plain(name).slice(0, 40);
  const ranked = names
    .map((word) => ({ word, far: Math.min(distance(typed, plain(word)), distance(typed, lastPart(word))) }))
    .toSorted((a, b) => a.far - b.far);
  const [best] = ranked;
  if (best === undefined || typed === '') return null;
  // A single letter is similar to every short word.
  const most = typed.length < 2 ? 0 : Math.max(1, Math.floor(typed.length / 3));
  return best.far <= most ? best.word : sharedBeginning(typed, names);
}

/** Returns the name with the same beginning: `environment` for `env`, `project` for `projectSlug`. */
function sharedBeginning(typed: string, names: readonly string[]): string | null {
  if (typed.length < 3) return null;
  const related = names.filter((name) => {
    const known = plain(name);
    return known.startsWith(typed) || (known.length >= 4 && typed.startsWith(known));
  });
  const off = (name: string) => Math.abs(plain(name).length - typed.length);
  return related.toSorted((a, b) => off(a) - off(b))[0] ?? null;
}

/** Returns the normalized last part of a dotted name, so that `timestampHeader` matches `webhook.timestampHeader`. */
function lastPart(name: string): string {
  return plain(name.slice(name.lastIndexOf('.') + 1));
}

/** Returns a hint for an unknown word: the most similar known word, or else all of them, as `otherwise` says. */
export function instead(
  word: string,
  words: readonly string[],
  otherwise = `write one of ${words.join(', ')}`,
): string {
  const near = nearest(word, words);
  return near === null ? otherwise : `did you mean ${near}?`;
}

/** Longer than every known word and shorter than every key. */
const longest = 32;

/** Returns an unknown word for a message, or `that` if it is long enough to be a misplaced secret. */
export function echoed(word: string): string {
  return isEchoed(word) ? JSON.stringify(word) : 'that';
}

/** Whether a message may repeat the word. */
export function isEchoed(word: string): boolean {
  return word.length <= longest;
}
