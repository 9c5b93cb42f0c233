import azure from '../../templates/init/azure.yml?raw';
import bitbucket from '../../templates/init/bitbucket.yml?raw';
import buildkite from '../../templates/init/buildkite.yml?raw';
import circleci from '../../templates/init/circleci.yml?raw';
import github from '../../templates/init/github.yml?raw';
import githubResume from '../../templates/init/github-resume.yml?raw';
import gitlab from '../../templates/init/gitlab.yml?raw';
import jenkins from '../../templates/init/Jenkinsfile?raw';
import { resumeInput, resumeWorkflow } from '../gate/detached/protocol.ts';
import { version } from '../version.ts';
import type { Provider } from './context.ts';
import { type Installation, pinned } from './installation.ts';

export interface Plan {
  /** The options that select what to run, unless the project file in the repository's root does. */
  readonly flags: string;
  /** The step needs files of the repository: a project file or a lockfile. */
  readonly checkout: boolean;
  /** The path of the gated package from the repository's root; empty for the root. */
  readonly folder: string;
  /** The project file contains the URL of the service, so no variable is needed. */
  readonly addressInFile: boolean;
  /** The longest time that the gate waits, in milliseconds. */
  readonly longestWaitMs: number;
  readonly installation: Installation;
  /** The repository's default branch. */
  readonly defaultBranch: string;
  /** A merge queue merges the pull requests, so that it can run the gate for those from forks. Only for GitHub. */
  readonly mergeQueue: boolean;
  /** The job ends before the verdict, which a commit status shows. Only for GitHub. */
  readonly detached: boolean;
  /** The stage of the job, if GitLab's default does not exist. */
  readonly stage?: string;
}

/** The pipeline of one CI, as a page in docs/how-to shows it and `rungate init` writes it. */
export interface Pipeline {
  readonly provider: Provider;
  readonly title: string;
  /** The path, from the repository's root, where the CI looks for the pipeline. */
  readonly file: string;
  /** Each pipeline has its own file, so rungate can add one. Otherwise the user edits the one file. */
  readonly added?: true;
  /** The job runs in a container image that the pipeline chooses, so that it can be that of rungate. */
  readonly takesImage?: true;
  /** The places in the CI for the API key and the address. */
  readonly keyPlace: string;
  readonly addressPlace: string;
  /** The plugins that the pipeline needs. */
  readonly plugins?: string;
  text(plan: Plan): string;
}

/**
 * Returns the gate as one command. It is the last one of its step: with `exec` and nothing after it, signals to the job's shell
 * reach rungate, and the step has its exit code.
 */
export function gateCommand({ flags, installation, detached }: Plan): string {
  const parts = ['exec', installation.start, 'gate', detached ? '--detach' : '', flags];
  return parts.filter((part) => part !== '').join(' ');
}

function slugOf(folder: string): string {
  return folder.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

/** Returns the name of the job, which differs between the packages of a repository. */
export function jobNameOf({ folder }: Plan): string {
  return folder === '' ? 'e2e' : `e2e-${slugOf(folder)}`;
}

/** Returns the file of a pipeline. Each package has its own file if the CI reads several. */
export function pipelineFile({ file, added }: Pipeline, { folder }: Plan): string {
  return folder === '' || added !== true ? file : file.replace(/(?=\.[a-z]+$)/, `-${slugOf(folder)}`);
}

/** The condition of a job in GitHub that leaves pull requests from forks, which have no secrets, to the merge queue. */
export const exceptForks =
  "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository";

/** YAML reads such words as booleans or null, and others than YAML 1.2 more of them. */
const yamlWords = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const quoted = (branch: string) =>
  /^[A-Za-z][\w./-]*$/.test(branch) && !yamlWords.test(branch) ? branch : `'${branch.replaceAll("'", "''")}'`;

/** Returns what stands for a plan in the templates. */
function valuesOf(plan: Plan): Readonly<Record<string, unknown>> {
  const job = jobNameOf(plan);
  return {
    ...plan,
    ...plan.installation,
    exceptForks,
    job,
    azureJob: job.replaceAll('-', '_'),
    // Longer than the limit of rungate, so that rungate ends the wait and reports why.
    minutes: Math.max(60, Math.ceil(plan.longestWaitMs / 60_000) + 15),
    branch: quoted(plan.defaultBranch),
    gate: gateCommand(plan),
    resumeInput,
    // Its job has no checkout, so no lockfile.
    pinned: pinned(version).start,
  };
}

/**
 * Fills a template of `templates/init`: `<<name>>` stands for a value, and a line that begins with `<<?name>>` or `<<?!name>>` is
 * there only with or without it.
 */
function fill(template: string): (plan: Plan) => string {
  return (plan) => {
    const values = valuesOf(plan);
    const lines = template.split('\n').flatMap((line) => {
      const [, not, condition = '', rest = line] = /^<<\?(!?)(\w+)>>(.*)$/.exec(line) ?? [];
      const isLeftOut = not !== undefined && Boolean(values[condition]) === (not === '!');
      return isLeftOut ? [] : rest.replaceAll(/<<(\w+)>>/g, (_, name: string) => String(values[name]));
    });
    return lines.join('\n');
  };
}

const onGitHub = {
  provider: 'github',
  title: 'GitHub Actions',
  keyPlace:
    'Settings, Secrets and variables, Actions: a secret RUNGATE_API_KEY; for Dependabot pull requests, also under Dependabot',
  addressPlace: 'the same page, tab Variables: RUNGATE_API_URL',
} as const;

export const pipelines: readonly Pipeline[] = [
  {
    ...onGitHub,
    file: '.github/workflows/rungate.yml',
    added: true,
    text: fill(github),
  },
  {
    provider: 'gitlab',
    title: 'GitLab CI',
    file: '.gitlab-ci.yml',
    takesImage: true,
    keyPlace: 'Settings, CI/CD, Variables: RUNGATE_API_KEY, masked',
    addressPlace: 'the same page: RUNGATE_API_URL',
    // GitLab always checks out the repository.
    text: fill(gitlab),
  },
  {
    provider: 'circleci',
    title: 'CircleCI',
    file: '.circleci/config.yml',
    keyPlace: 'Organization Settings, Contexts: a context "rungate" with RUNGATE_API_KEY',
    addressPlace: 'the same context: RUNGATE_API_URL',
    text: fill(circleci),
  },
  {
    provider: 'jenkins',
    title: 'Jenkins',
    file: 'Jenkinsfile',
    takesImage: true,
    keyPlace: 'Manage Jenkins, Credentials: a "secret text" with the id rungate-api-key',
    addressPlace: 'Manage Jenkins, System, Global properties: RUNGATE_API_URL',
    plugins: 'Pipeline, Docker Pipeline, Credentials Binding and JUnit',
    // Jenkins always checks out the repository. If the step needs no file of it, the step sets the address too.
    text: fill(jenkins),
  },
  {
    provider: 'azure',
    title: 'Azure Pipelines',
    file: 'azure-pipelines.yml',
    keyPlace: 'Pipelines, Library: a variable group "rungate" with RUNGATE_API_KEY as a secret',
    addressPlace: 'the same group: RUNGATE_API_URL',
    // Azure leaves the reference to an undefined variable unexpanded, and rungate would take it for the address.
    text: fill(azure),
  },
  {
    provider: 'bitbucket',
    title: 'Bitbucket Pipelines',
    file: 'bitbucket-pipelines.yml',
    keyPlace: 'Repository settings, Repository variables: RUNGATE_API_KEY, secured',
    addressPlace: 'the same page: RUNGATE_API_URL',
    text: fill(bitbucket),
  },
  {
    provider: 'buildkite',
    title: 'Buildkite',
    file: '.buildkite/pipeline.yml',
    keyPlace: "the cluster's Secrets: RUNGATE_API_KEY",
    addressPlace: 'the same page: RUNGATE_API_URL',
    // Buildkite always checks out the repository. A secret that the step names but that does not exist fails the job.
    text: fill(buildkite),
  },
];

/** The workflow that goes on with detached gates, the same one for all packages of a repository. */
export const resumePipeline: Pipeline = {
  ...onGitHub,
  file: `.github/workflows/${resumeWorkflow}`,
  text: fill(githubResume),
};

export function pipelineOf(provider: Provider): Pipeline | undefined {
  return pipelines.find((pipeline) => pipeline.provider === provider);
}
