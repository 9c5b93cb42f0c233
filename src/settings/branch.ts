/** A branch or a tag by its name alone: `refs/heads/main` is `main`. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '');
}

/** `*` stands for any characters, slashes too; everything else for itself. */
function matches(pattern: string, ref: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return ref === pattern;
  if (!ref.startsWith(first) || !ref.endsWith(last) || ref.length < first.length + last.length) return false;
  const end = ref.length - last.length;
  let from = first.length;
  // The leftmost place for each part leaves the most for those behind it: no backtracking is needed.
  for (const part of rest) {
    const found = ref.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}

/**
 * The pattern that is meant for a ref: the ref itself before any with a `*`, then the one with the most characters that
 * are no `*`, then the first. `*` alone is everything else, an unknown ref too.
 */
export function matchBranch(patterns: readonly string[], ref: string | null): string | null {
  if (ref === null) return patterns.includes('*') ? '*' : null;
  const name = shortRef(ref);
  const exact = patterns.find((pattern) => !pattern.includes('*') && shortRef(pattern) === name);
  if (exact !== undefined) return exact;
  const literal = (pattern: string) => shortRef(pattern).replaceAll('*', '').length;
  const fitting = patterns.filter((pattern) => pattern.includes('*') && matches(shortRef(pattern), name));
  return fitting.toSorted((a, b) => literal(b) - literal(a))[0] ?? null;
}
