import { readFileSync } from 'node:fs';

/**
 * The processes above us: the parent, and where it is a shell that a package runner put in between
 * (`npx` → `sh -c` → us), the runner. Null where there is none or it cannot be known. Nothing else above
 * the parent counts: a script under `nohup` outlives the terminal that started it, and so must we.
 */
export interface Lineage {
  readonly parent: number;
  readonly runner: number | null;
}

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh']);

/** npm sets its process title to `npm exec …`, others run as `node` or under their own name. */
const runners = /^(npm|npx|pnpm|yarn|node)/;

/** Linux: `pid (name) state ppid …`; the name may itself hold spaces and parentheses. */
export function parseStat(stat: string): { name: string; parent: number } | null {
  const match = /^\d+ \((.*)\) \S (\d+) /s.exec(stat);
  return match?.[1] === undefined ? null : { name: match[1], parent: Number(match[2]) };
}

function stat(pid: number): { name: string; parent: number } | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // Not Linux, or the process ended between two looks: its number alone must do.
    return null;
  }
}

/** Looks up the processes above us, given the parent's number. */
export function readLineage(parent: number): Lineage {
  const shell = stat(parent);
  if (shell === null || !shells.has(shell.name)) return { parent, runner: null };
  return { parent, runner: runners.test(stat(shell.parent)?.name ?? '') ? shell.parent : null };
}

/** True when we were orphaned, or the shell that a package runner put above us was. */
export function lineageChanged(before: Lineage, now: Lineage): boolean {
  return before.parent !== now.parent || (before.runner !== null && before.runner !== now.runner);
}
