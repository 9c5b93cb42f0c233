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

/** What Linux says of a process in `/proc/<pid>/stat`. */
export interface ProcessStat {
  name: string;
  state: string;
  parent: number;
  group: number;
}

/** `pid (name) state ppid pgrp …`; the name may itself hold spaces and parentheses. */
export function parseStat(stat: string): ProcessStat | null {
  const [, name = '', state = '', parent, group] = /^\d+ \((.*)\) (\S) (\d+) (\d+) /s.exec(stat) ?? [];
  return group === undefined ? null : { name, state, parent: Number(parent), group: Number(group) };
}

/** Null where this is not Linux, or the process has ended in the meantime. */
export function readStat(pid: number | string): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Looks up the processes above us, given the parent's number. */
export function readLineage(parent: number): Lineage {
  const shell = readStat(parent);
  if (shell === null || !shells.has(shell.name)) return { parent, runner: null };
  return { parent, runner: runners.test(readStat(shell.parent)?.name ?? '') ? shell.parent : null };
}

/** True when we were orphaned, or the shell that a package runner put above us was. */
export function lineageChanged(before: Lineage, now: Lineage): boolean {
  return before.parent !== now.parent || (before.runner !== null && before.runner !== now.runner);
}
