import { jobOf, type Plan } from './pipelines.ts';

const linesOf = (text: string) => text.split(/\r?\n/);

/**
 * The lines of a pipeline without those that differ from plan to plan: what is installed, the gate and its options, the limit of the job,
 * the address.
 */
function frame(text: string): string {
  return linesOf(text)
    .filter((line) => !/^\s+--\w|--ignore-scripts'?$|RUNGATE_API_URL/.test(line))
    .map((line) => (/ run (trigger --wait|gates) --strict/.test(line) ? '' : line))
    .map((line) => (/time/i.test(line) ? line.replace(/\d+/g, '') : line))
    .join('\n');
}

/** Whether a file is a pipeline that `rungate init` has written for the same job, and nothing else. */
export function isWritten(present: string, text: string): boolean {
  return frame(present) === frame(text);
}

/** Returns the job of a pipeline that a file has already, by its name; null if it has none of that name. */
export function jobIn(present: string, text: string, plan: Plan): string | null {
  const names = [jobOf(plan), jobOf(plan).replaceAll('-', '_')];
  const bare = (line: string) => line.trim().replace(/^- /, '');
  for (const name of names) {
    const naming = linesOf(text).find((line) => line.includes(name));
    if (naming !== undefined && linesOf(present).some((line) => bare(line) === bare(naming))) return name;
  }
  return null;
}
