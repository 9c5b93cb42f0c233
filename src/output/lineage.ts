import { readFileSync } from 'node:fs';

/**
 * The processes above us: the parent, and where it is a shell that a package runner put in between
 * (`npx` → `sh -c` → us), that shell's parent too. Null where it cannot be known.
 */
export interface Lineage {
  readonly parent: number;
  readonly grandparent: number | null;
}

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh']);

/** Linux: `pid (name) state ppid …`; the name may itself hold spaces and parentheses. */
export function parseStat(stat: string): { name: string; parent: number } | null {
  const match = /^\d+ \((.*)\) \S (\d+) /s.exec(stat);
  return match?.[1] === undefined ? null : { name: match[1], parent: Number(match[2]) };
}

export function readLineage(parent: number): Lineage {
  try {
    const stat = parseStat(readFileSync(`/proc/${parent}/stat`, 'utf8'));
    return { parent, grandparent: stat !== null && shells.has(stat.name) ? stat.parent : null };
  } catch {
    // Not Linux, or the parent ended between the two calls: its number alone must do.
    return { parent, grandparent: null };
  }
}

/** True when we were orphaned, or the shell above us was. */
export function lineageChanged(before: Lineage, now: Lineage): boolean {
  if (before.parent !== now.parent) return true;
  return before.grandparent !== null && now.grandparent !== null && before.grandparent !== now.grandparent;
}
