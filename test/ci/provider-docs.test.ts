import { expect, test } from 'vitest';
import { rows } from '../../src/ci/provider.ts';
import { type Description, descriptions, type Fixture, fixtures, places } from './provider-fixtures.ts';

/** A cell of a table: text as code, so that no character of it is markup. */
function cell(value: string | number | null): string {
  return value === null ? '' : `\`${String(value).replaceAll('|', '\\|')}\``;
}

function rowOf({ name, note, fork, expected }: Fixture): string {
  const { event, rawEvent, ref, commitSha, pullRequest, attempt, parallelIndex, parallelTotal } = expected;
  const { job, jobId, step, matrix } = expected;
  const place = [job, step, matrix].map((part) => cell(part) || '–').join(' / ');
  return [
    '',
    `**${name}**: ${note}${fork ? ' (fork)' : ''}`,
    cell(event) + (rawEvent === null ? '' : ` (${cell(rawEvent)})`),
    cell(ref),
    cell(commitSha?.slice(0, 12) ?? null),
    cell(pullRequest),
    cell(attempt),
    [job, step, matrix].every((part) => part === null) ? '' : place,
    cell(jobId?.slice(0, 13) ?? null),
    parallelIndex === null ? '' : `${parallelIndex} of ${parallelTotal}`,
    '',
  ]
    .join(' | ')
    .trim();
}

function sectionOf(place: (typeof places)[number]): string {
  const { name, retry, nulls } = descriptions[place] as Description;
  const own = fixtures.filter((one) => one.place === place);
  const [sample] = own.filter((one) => one.expected.buildUrl !== null);
  const variables = [...new Set(own.flatMap((one) => one.expected.variables))].toSorted();
  const lines = [
    `## ${name}`,
    '',
    '| environment | event | ref | commit | pull request | attempt | job / step / matrix | job id | parallel |',
    '|---|---|---|---|---|---|---|---|---|',
    ...own.map(rowOf),
    '',
    `**Retries.** ${retry}`,
    '',
  ];
  if (sample !== undefined) {
    const { repository, runId, buildUrl, temporaryFolder } = sample.expected;
    const parts = Object.entries({ repository, runId, buildUrl, temporaryFolder });
    lines.push(
      ...parts.filter(([, value]) => value !== null).map(([field, value]) => `- ${field}: ${cell(value)}`),
      '',
    );
  }
  const reasons = Object.entries(nulls);
  if (reasons.length > 0) {
    lines.push('Never known:', '', ...reasons.map(([field, reason]) => `- \`${field}\`: ${reason}`), '');
  }
  if (variables.length > 0) lines.push(`Read from: ${variables.map((one) => `\`${one}\``).join(' ')}`, '');
  return lines.join('\n');
}

// With --update this test writes the file that it otherwise compares.
test('docs/ci-detection.md is what the fixtures say now; `npx vitest run test/ci/provider-docs.test.ts --update` writes it', async () => {
  const intro = `# What is known of the CI

<!-- Made from fixtures/ci by test/ci/provider-docs.test.ts. Do not edit: change a fixture and run the test with --update. -->

\`rungate run trigger\` fills in repository, ref, commit, event and the pipeline's URL from the environment of the CI
that it runs in, and makes its idempotency key from the run, the job, the step and the cell of a matrix. What a CI does
not say is left out: nothing is guessed. Where several CIs fit, the one that runs inside the other counts, in this order:
${rows.map((row) => row.provider).join(', ')}.

- **The commit of a pull request is its head**, never the merge that the CI made up. In GitHub Actions the head is in
  the file that GITHUB_EVENT_PATH names alone; where that cannot be read there is no commit. In Jenkins it is known from
  two plugins and where the branch's name ends in \`-head\`.
- **Git is asked** for what is missing: the remote's owner and name, the branch, the commit; for a pull request for the
  remote alone, since what is checked out may be the merge.
- **An event** is what set the pipeline off. Where a CI names no cause but builds a tag or a pull request, it is that.
- **Credentials** in addresses are taken out, and an address that has an \`@\` where none belongs is not used at all.
- **A fork** is recognised by comparing the repository that a change comes from with the one that it goes to, or where the CI says so
  itself; the environments below that count as a fork's are marked so. Where one of the two cannot be read, as for a fork that was deleted, it
  counts as a fork. Bitbucket runs no pipeline for a fork. CodeBuild, Drone, TeamCity and Woodpecker do not say: set \`RUNGATE_API_URL\` there.
- Values with control characters, or longer than 1000 characters, are not used.

Each table shows environments (\`fixtures/ci\`) and what is derived from them. They are written after the
providers' documentation, with example values: each has only variables that its provider sets, and
\`fixtures/ci/<provider>/variables.txt\` lists those with the source of the list. What a provider sets and does not
document was taken from recorded runs of others, and is marked so there.
`;
  const text = [intro, ...places.map(sectionOf)].join('\n');
  await expect(`${text.trimEnd()}\n`).toMatchFileSnapshot('../../docs/ci-detection.md');
});
