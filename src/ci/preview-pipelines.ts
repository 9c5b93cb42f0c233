import {
  checkout,
  gateCommand,
  jobMinutes,
  jobOf,
  type Pipeline,
  type Plan,
  setupNode,
} from './pipelines.ts';

/** The hosts whose preview deployments start a workflow in GitHub, in the order in which they are offered. */
export const previewHosts = ['vercel', 'netlify'] as const;
export type PreviewHost = (typeof previewHosts)[number];

export const hostTitles: Readonly<Record<PreviewHost, string>> = { vercel: 'Vercel', netlify: 'Netlify' };

/** The files and folders that show that a host deploys a repository. */
const markers: Readonly<Record<PreviewHost, readonly string[]>> = {
  vercel: ['vercel.json', '.vercel'],
  netlify: ['netlify.toml', '.netlify'],
};

/** Returns the host that deploys a repository, as its files show; null if none or both do. */
export function likelyHost(exists: (path: string) => boolean): PreviewHost | null {
  const [host = null, ...others] = previewHosts.filter((name) => markers[name].some(exists));
  return others.length === 0 ? host : null;
}

/** Not `e2e`, since a check has one name, and the repository may also have the pipeline for each push. */
const previewJobOf = (plan: Plan) => `${jobOf(plan)}-preview`;

const place = {
  provider: 'github',
  file: '.github/workflows/rungate-preview.yml',
  added: true,
  keyPlace:
    'Settings, Secrets and variables, Actions: the secrets RUNGATE_API_KEY and RUNGATE_TOKEN, a bearer token',
  addressPlace: 'the same page, tab Variables: RUNGATE_API_URL',
} as const;

const setup = `      - uses: ${setupNode}
        with:
          node-version: 24
          package-manager-cache: false
`;

/** The address comes from a variable, also if the project file has one, because a pull request can change the file. */
const credentials = `          RUNGATE_API_URL: \${{ vars.RUNGATE_API_URL }}
          RUNGATE_API_KEY: \${{ secrets.RUNGATE_API_KEY }}
          RUNGATE_TOKEN: \${{ secrets.RUNGATE_TOKEN }}
`;

/**
 * The workflows that gate the preview deployments of pull requests. The token of their job can delete every environment, so they
 * run nothing from the deployed commit: they check out the default branch, and install nothing from its lockfile.
 */
export const previewPipelines: Readonly<Record<PreviewHost, Pipeline>> = {
  vercel: {
    ...place,
    title: 'GitHub Actions, for previews of Vercel',
    text: (plan) => `name: ${previewJobOf(plan)}
on: deployment_status
permissions:
  contents: read
jobs:
  ${previewJobOf(plan)}:
    # Only Vercel's: a pull request from a fork can create a deployment with any URL.
    if: >-
      github.event.deployment_status.state == 'success' &&
      github.event.deployment.creator.login == 'vercel[bot]' &&
      startsWith(github.event.deployment.environment, 'Preview')
    runs-on: ubuntu-latest
    timeout-minutes: ${jobMinutes(plan)}
    steps:
      # Not the deployed commit: this job has a token that can delete every environment.
      - uses: ${checkout}
        with:
          ref: \${{ github.event.repository.default_branch }}
          persist-credentials: false
${setup}      - run: ${gateCommand(plan, '--base-url auto')}
        env:
${credentials}`,
  },
  netlify: {
    ...place,
    title: 'GitHub Actions, for previews of Netlify',
    text: (plan) => `name: ${previewJobOf(plan)}
on: status
permissions:
  contents: read
  statuses: write
jobs:
  ${previewJobOf(plan)}:
    # Commits of forks are in no branch.
    if: >-
      github.event.state == 'success' &&
      startsWith(github.event.context, 'netlify/') &&
      endsWith(github.event.context, '/deploy-preview') &&
      github.event.branches[0].name != ''
    runs-on: ubuntu-latest
    timeout-minutes: ${jobMinutes(plan)}
    env:
      COMMIT: \${{ github.event.sha }}
    steps:
      # The default branch: this job has a token that can delete every environment.
      - uses: ${checkout}
        with:
          persist-credentials: false
${setup}      - run: ${gateCommand(plan, '--base-url "$URL" --ref "$REF" --commit-sha "$COMMIT"')}
        env:
          URL: \${{ github.event.target_url }}
          REF: \${{ github.event.branches[0].name }}
${credentials}      # GitHub shows a job that a status starts at the default branch, not in the pull request.
      - if: always()
        run: gh api "repos/$GITHUB_REPOSITORY/statuses/$COMMIT" -f context=${previewJobOf(plan)} -f state="$STATE"
        env:
          STATE: \${{ job.status == 'success' && 'success' || 'failure' }}
          GH_TOKEN: \${{ github.token }}
`,
  },
};
