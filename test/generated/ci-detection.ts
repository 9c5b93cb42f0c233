import type { CiContext } from '../../src/ci/context.ts';
import { rows } from '../../src/ci/provider.ts';
import { type Description, descriptions, type Fixture, fixtures, places } from '../ci/provider-fixtures.ts';

/** Returns a table cell with the text as code, so that none of it is markup. */
function cell(value: string | number | null): string {
  return value === null ? '' : `\`${String(value).replaceAll('|', '\\|')}\``;
}

type Cells = Readonly<Record<string, (facts: CiContext) => string>>;

/** The facts with a column, by its head. */
const columns: Cells = {
  event: ({ event }) => cell(event),
  ref: ({ ref }) => cell(ref),
};

/** The other facts: below a table are their usual values, and its last column contains the values that differ. */
const others: Cells = {
  commit: ({ commitSha }) => cell(commitSha?.slice(0, 12) ?? null),
  're-run': ({ attempt }) => cell(attempt && attempt - 1),
  job: ({ job }) => cell(job),
  step: ({ step }) => cell(step),
  matrix: ({ matrix }) => cell(matrix),
  'job id': ({ jobId }) => cell(jobId?.slice(0, 13) ?? null),
  parallel: ({ parallelIndex }) => cell(parallelIndex),
  repository: ({ repository }) => cell(repository),
  'run id': ({ runId }) => cell(runId),
  URL: ({ buildUrl }) => cell(buildUrl),
  'temporary folder': ({ temporaryFolder }) => cell(temporaryFolder),
};
/** Of these, the last column shows only that they are missing: their values are arbitrary. */
const examples: readonly string[] = ['repository', 'run id', 'URL', 'temporary folder'];

function nameCell({ name, note, fork }: Fixture): string {
  return `**${name}**${note === undefined ? '' : `: ${note}`}${fork ? ' (fork)' : ''}`;
}

/** Returns the value that most environments have; the first of several. */
function usualOf(values: readonly string[]): string {
  const count = (value: string) => values.filter((one) => one === value).length;
  return values.toSorted((a, b) => count(b) - count(a))[0] ?? '';
}

/** Returns the usual value of a fact, or an example. It is empty if most environments lack the fact. */
function usualValue(name: string, values: readonly string[]): string {
  const known = values.filter((value) => value !== '');
  return examples.includes(name) && 2 * known.length > values.length ? usualOf(known) : usualOf(values);
}

/** Returns the lines of the table, and those of the list of usual values. */
function tableOf(own: readonly Fixture[]): { table: string[]; usual: string[] } {
  const valuesOf = (of: Cells[string]) => own.map(({ expected }) => of(expected));
  const shown = Object.entries(columns).filter(([, of]) => new Set(valuesOf(of)).size > 1);
  const listed = Object.entries(others).map(([name, of]) => ({
    name,
    of,
    usual: usualValue(name, valuesOf(of)),
  }));
  const differences = ({ expected }: Fixture) =>
    listed
      .map(({ name, of, usual }) => ({ name, usual, value: of(expected) }))
      .filter(({ name, usual, value }) => value !== usual && (value === '' || !examples.includes(name)))
      .map(({ name, value }) => (value === '' ? `no ${name}` : `${name} ${value}`))
      .join(', ');
  const heads = ['environment', ...shown.map(([head]) => head), 'differences'];
  const rows = own.map((one) => [
    nameCell(one),
    ...shown.map(([, of]) => of(one.expected)),
    differences(one),
  ]);
  return {
    table: [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`),
    usual: listed.filter(({ usual }) => usual !== '').map(({ name, usual }) => `- ${name}: ${usual}`),
  };
}

/** The names of facts, if they differ from those of their fields. */
const names: Readonly<Record<string, string>> = {
  buildUrl: 'URL',
  runId: 'run id',
  jobId: 'job id',
  attempt: 're-run',
  parallelIndex: 'parallel',
  temporaryFolder: 'temporary folder',
};

/** Returns a line for each reason, with the facts that are null for it. */
function nullLines(nulls: Description['nulls']): string[] {
  return [...new Set(Object.values(nulls))].map((reason) => {
    const fields = Object.keys(nulls).filter((field) => nulls[field] === reason);
    return `- ${[...new Set(fields.map((field) => names[field] ?? field))].join(', ')}: ${reason}`;
  });
}

function sectionOf(place: (typeof places)[number]): string {
  const { name, retry, nulls } = descriptions[place] as Description;
  const own = fixtures.filter((one) => one.place === place);
  const variables = [...new Set(own.flatMap((one) => one.expected.variables))].toSorted();
  const { table, usual } = tableOf(own);
  const lines = [`## ${name}`, '', ...table, '', ...usual, ''];
  lines.push(`**Re-runs.** ${retry}`, '');
  if (Object.keys(nulls).length > 0) lines.push('**Never known:**', '', ...nullLines(nulls), '');
  if (variables.length > 0)
    lines.push(`**Read from:** ${variables.map((one) => `\`${one}\``).join(' ')}`, '');
  return lines.join('\n');
}

/** Returns docs/project/ci-detection.md, from fixtures/ci. */
export function ciDetectionPage(): string {
  const intro = `# CI detection

<!-- Written from fixtures/ci. Do not edit: change a fixture, and run \`npm run generate\`. -->

\`rungate gate\` reads the environment variables of your CI system. It sends the repository, ref, commit, event and URL of the pipeline to the service.
It makes the [idempotency key](../reference/creating-runs.md#keys) from the pipeline and the job. \`--dry-run\` shows both:

\`\`\`console
$ export GITHUB_ACTIONS=true GITHUB_REPOSITORY=octocat/hello-world GITHUB_RUN_ID=1658821493 GITHUB_JOB=gate
$ export GITHUB_EVENT_NAME=push GITHUB_REF=refs/heads/main GITHUB_SHA=83a20ec058e2fb00e7fa4558c4c6e81e2dcf253d
$ rungate gate --project shop --process checkout --dry-run
…
made from:
  provider: github
  repository: octocat/hello-world
  runId: 1658821493
  job: gate
  step: (unknown)
…
{
  "projectSlug": "shop",
  "processSlug": "checkout",
  "repository": "octocat/hello-world",
  "ref": "main",
  "commitSha": "83a20ec058e2fb00e7fa4558c4c6e81e2dcf253d",
  "event": "push"
}
…
\`\`\`

rungate leaves out the facts that your CI system does not provide. It never guesses them.

- **Several CI systems.** One may run inside another, and pass its variables on. The first of these that matches wins:
  ${rows.map((row) => row.provider).join(', ')}.
- **Commits.** The commit of a pull request is its head, never a generated merge commit. On GitHub, only the file in \`GITHUB_EVENT_PATH\` contains
  the head. Without this file, there is no commit. Jenkins provides the head with the GitLab or pull request builder plugin, and if \`BRANCH_NAME\`
  ends in \`-head\`.
- **Git.** A missing repository comes from the git remote. A missing branch or commit comes from the working copy, but not in a pull request, where
  the working copy may be the merge commit. If git does not read the repository because another user owns it, a gate and \`doctor\` name the
  command that allows it.
- **Events.** The event is the CI system's own name for the cause of the pipeline. Without one, it is \`tag\` or \`pull_request\`.
- **Forks.** The tables mark the environments that belong to a fork, or may do so, with (fork). [Security](../reference/settings.md#security) lists
  the CI systems that do not report forks.
- **Credentials.** rungate removes credentials from addresses. It does not use an address with an unexpected \`@\`.
- **Invalid values.** rungate does not use values with control characters or with more than 1000 characters.

## How to read the tables

A table lists environments from \`fixtures/ci\`, and the facts that rungate derives from them:

- The list below the table contains the usual values of the other facts, and an example of the repository, run id, URL and temporary folder.
- The last column contains different values and missing facts.
- *Run* means a run of the pipeline. *Parallel* counts from 0.
- *In no variable* means that the provider documents no variable for the fact.

The environments contain only variables that the provider sets, with example values. \`variables.txt\` in the provider's folder lists the variables with their
sources: the provider's documentation, or else a recorded run or the CI system's source code.
`;
  const text = [intro, ...places.map(sectionOf)].join('\n');
  return `${text.trimEnd()}\n`;
}
