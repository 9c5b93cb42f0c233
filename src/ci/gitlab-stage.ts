/** Returns the names in the top-level list `stages` of a `.gitlab-ci.yml`, in either notation; none if it has no such list. */
function stagesIn(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/(^|\s)#.*/, ''));
  const first = lines.findIndex((line) => line.startsWith('stages:'));
  if (first < 0) return [];
  const after = lines.slice(first + 1);
  const end = after.findIndex((line) => /^[^\s\-\]]/.test(line));
  const list = [lines[first]?.slice('stages:'.length), ...after.slice(0, end < 0 ? after.length : end)];
  return list
    .join('\n')
    .split(/[[\],\n]/)
    .map((part) =>
      part
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
