import { readFileSync } from 'node:fs';

/**
 * The parent process and, if the parent is a shell that a package runner started (`npx` → `sh -c` → rungate), that runner.
 * `runner` is null if there is none or it cannot be determined. Other ancestors do not matter: a script under `nohup`
 * outlives the terminal that started it, and so must rungate.
 */
export interface Lineage {
  readonly parent: number;
  readonly runner: number | null;
}

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'busybox', 'zsh']);

/** npm sets its process title to `npm exec …`; others run as `node` or under their own name. */
const runners = /^(npm|npx|pnpm|yarn|node)/;

/** Fields of `/proc/<pid>/stat` on Linux. */
interface ProcessStat {
  name: string;
  state: string;
  parent: number;
  group: number;
}

/** Parses `pid (name) state ppid pgrp …`; the name itself may contain spaces and parentheses. */
export function parseStat(stat: string): ProcessStat | null {
  const [, name = '', state = '', parent, group] = /^\d+ \((.*)\) (\S) (\d+) (\d+) /s.exec(stat) ?? [];
  return group === undefined ? null : { name, state, parent: Number(parent), group: Number(group) };
}

/** Returns null if this is not Linux or the process has ended. */
export function readStat(pid: number | string): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Looks up the lineage of this process, given the parent's process id. */
export function readLineage(parent: number): Lineage {
  const shell = readStat(parent);
  if (shell === null || !shells.has(shell.name)) return { parent, runner: null };
  return { parent, runner: runners.test(readStat(shell.parent)?.name ?? '') ? shell.parent : null };
}

/** Returns whether this process was orphaned, or the shell between it and a package runner was. */
export function lineageChanged(before: Lineage, now: Lineage): boolean {
  return before.parent !== now.parent || (before.runner !== null && before.runner !== now.runner);
}
