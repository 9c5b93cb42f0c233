import { expect, test } from 'vitest';
import { rows } from '../../src/ci/provider.ts';
import { type Description, descriptions, type Fixture, fixtures, places } from './provider-fixtures.ts';

/** Returns a table cell with the text as code, so that none of it is markup. */
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
    cell(attempt && attempt - 1),
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
    '| environment | event | ref | commit | pull request | re-run | job / step / matrix | job id | parallel |',
    '|---|---|---|---|---|---|---|---|---|',
    ...own.map(rowOf),
    '',
    `**Re-runs.** ${retry}`,
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
    lines.push(
      'Never known:',
      '',
      ...reasons.map(([field, reason]) => `- ${field === 'attempt' ? 're-run' : cell(field)}: ${reason}`),
      '',
    );
  }
  if (variables.length > 0) lines.push(`Read from: ${variables.map((one) => `\`${one}\``).join(' ')}`, '');
  return lines.join('\n');
}

// With --update, this test writes the page. Otherwise it compares it.
test('docs/project/ci-detection.md matches the fixtures; `npx vitest run test/ci/provider-docs.test.ts --update` writes it', async () => {
  const intro = `# CI detection

<!-- Written by test/ci/provider-docs.test.ts from fixtures/ci. Do not edit: change a fixture and run the test with --update. -->

\`rungate gate\` reads the repository, ref, commit, event and URL of the pipeline from the CI's environment variables. It makes its
idempotency key from the run of the pipeline (\`runId\`), the job, the step and the matrix cell. On this page, a run is a run of the pipeline.
rungate leaves out facts that the CI does not provide, and never guesses them. If the environment matches several CIs, the first one in this
order wins, so a CI that runs inside another comes before it:
${rows.map((row) => row.provider).join(', ')}.

- **Commits.** The commit of a pull request is its head, never the merge commit that the CI generates. In GitHub Actions, only the file that
  GITHUB_EVENT_PATH names contains the head; if rungate cannot read it, there is no commit. Jenkins provides the head only with the GitLab
  plugin or the pull request builder plugin, and in a job whose branch name ends in \`-head\`.
- **Git.** If the CI does not provide them, rungate reads the owner and name of the repository from the git remote, and the branch and the
  commit from the working copy. In a pull request, it uses only the remote, since the working copy may be the merge commit.
- **Events.** The event is the cause of the pipeline. If the CI provides no event but builds a tag or a pull request, that is the event.
- **Credentials.** rungate removes credentials from addresses. It does not use an address with an unexpected \`@\`.
- **Forks.** rungate compares the repository that a change comes from with the one that it goes to, or reads a variable that the CI sets for
  forks. If it cannot read one of the two, as after a fork was deleted, the change counts as one from a fork. The tables mark these
  environments with (fork). Bitbucket runs no pipeline for a fork. CodeBuild, Drone, TeamCity and Woodpecker do not show whether a change comes
  from a fork: set \`RUNGATE_API_URL\` there.
- **Invalid values.** rungate does not use values with control characters or with more than 1000 characters.

Each table shows environments (\`fixtures/ci\`) and the facts that rungate derives from them. The environments follow the documentation of the
providers, have example values, and contain only variables that the provider sets. \`fixtures/ci/<provider>/variables.txt\` lists these
variables with their source. For the few variables that a provider sets but does not document, the source is a recorded run or the source code
of the CI.
`;
  const text = [intro, ...places.map(sectionOf)].join('\n');
  await expect(`${text.trimEnd()}\n`).toMatchFileSnapshot('../../docs/project/ci-detection.md');
});
