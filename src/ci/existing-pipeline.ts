const linesOf = (text: string) => text.split(/\r?\n/);

/**
 * The lines of a pipeline without those that differ from plan to plan: what is installed, the gate, the limit of the job, the
 * address.
 */
function frame(text: string): string {
  return linesOf(text)
    .filter((line) => !/--ignore-scripts'?$|RUNGATE_API_URL/.test(line))
    .map((line) => (/\bexec /.test(line) && / gate\b/.test(line) ? '' : line))
    .map((line) => (/time/i.test(line) ? line.replace(/\d+/g, '') : line))
    .join('\n');
}

/** Whether a file is a pipeline that `rungate init` has written for the same job, and nothing else. */
export function isWritten(present: string, text: string): boolean {
  return frame(present) === frame(text);
}

/** Returns the names in the top-level list `stages` of a `.gitlab-ci.yml`, in either notation; none if it has no such list. */
function stagesIn(text: string): string[] {
  const lines = linesOf(text).map((line) => line.replace(/(^|\s)#.*/, ''));
  const first = lines.findIndex((line) => line.startsWith('stages:'));
  if (first < 0) return [];
  const end = lines.findIndex((line, at) => at > first && /^[^\s\-\]]/.test(line));
  const list = lines.slice(first, end < 0 ? undefined : end).join('\n');
  const names = list.slice('stages:'.length).split(/[[\],\n]/);
  return names
    .map((name) =>
      name
        .trim()
        .replace(/^-\s+/, '')
        .replace(/^(['"])(.*)\1$/, '$2'),
    )
    .filter((name) => /^\w[\w ./-]*$/.test(name));
}

/**
 * Returns the stage for a gate in an existing `.gitlab-ci.yml`; undefined if the job needs none. Without `stage`, GitLab puts it in
 * the stage `test`, and refuses the file if it lists other stages only.
 */
export function gitlabStage(text: string): string | undefined {
  const stages = stagesIn(text);
  if (stages.includes('test')) return undefined;
  return stages.findLast((name) => /e2e|test|verify|gate/i.test(name)) ?? stages.at(-1);
}
