import type { Provider } from './context.ts';
import type { Installation } from './installation.ts';

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
  text(plan: Plan): string;
}

/** Returns the timeout of the job in minutes, longer than rungate's, so that rungate ends the wait and reports why. */
export function jobMinutes({ longestWaitMs }: Plan): number {
  return Math.max(60, Math.ceil(longestWaitMs / 60_000) + 15);
}

/**
 * Returns the gate as one command. It is the last one of its step: with `exec` and nothing after it, signals to the job's shell
 * reach rungate, and the step has its exit code.
 */
export function gateCommand({ flags, installation }: Plan, reports = ''): string {
  return ['exec', installation.start, 'gate', flags, reports].filter((part) => part !== '').join(' ');
}

function slugOf(folder: string): string {
  return folder.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

/** Returns the name of the job, which differs between the packages of a repository. */
export function jobOf({ folder }: Plan): string {
  return folder === '' ? 'e2e' : `e2e-${slugOf(folder)}`;
}

/** Returns the file of a pipeline. Each package has its own file if the CI reads several. */
export function pipelineFile({ file, added }: Pipeline, { folder }: Plan): string {
  return folder === '' || added !== true ? file : file.replace(/(?=\.[a-z]+$)/, `-${slugOf(folder)}`);
}

/** Returns the install command in the CI's syntax; empty without a lockfile. */
function installLine({ installation: { install } }: Plan, before: string, after = ''): string {
  return line(install !== null, `${before}${install}${after}`);
}

/** Returns the place of rungate's own image, which has an entrypoint; undefined for an image with Node. */
function ownImage({ installation: { image } }: Plan, text: (image: string) => string): string | undefined {
  return image === undefined ? undefined : text(image);
}

const jenkinsImage = (image: string) => `
    docker {
      image '${image}'
      args '--entrypoint='
    }
  `;

function line(needed: boolean, text: string): string {
  return needed ? `${text}\n` : '';
}

/** Pinned by commit, because a tag can be moved; the same versions as in this project's workflows. */
export const checkout = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1';
export const setupNode = 'actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0';

/** The condition of a job in GitHub that leaves pull requests from forks, which have no secrets, to the merge queue. */
export const exceptForks =
  "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository";

function quoted(branch: string): string {
  return /^[A-Za-z][\w./-]*$/.test(branch) ? branch : `'${branch.replaceAll("'", "''")}'`;
}

export const pipelines: readonly Pipeline[] = [
  {
    provider: 'github',
    title: 'GitHub Actions',
    file: '.github/workflows/rungate.yml',
    added: true,
    keyPlace:
      'Settings, Secrets and variables, Actions: a secret RUNGATE_API_KEY; for pull requests of Dependabot, under Dependabot too',
    addressPlace: 'the same page, tab Variables: RUNGATE_API_URL',
    text: (plan) => `name: ${jobOf(plan)}
on:
  push:
    branches: [${quoted(plan.defaultBranch)}]
  pull_request:
  merge_group:
  workflow_dispatch:
permissions:
  contents: read
concurrency:
  group: \${{ github.workflow }}-\${{ github.event.pull_request.number || github.run_id }}
  cancel-in-progress: true
jobs:
  ${jobOf(plan)}:
    runs-on: ubuntu-latest
    timeout-minutes: ${jobMinutes(plan)}
${line(plan.mergeQueue, `    # Pull requests from forks have no secrets: the merge queue runs the gate for them.\n    if: ${exceptForks}`)}    steps:
${line(plan.checkout, `      - uses: ${checkout}\n        with:\n          persist-credentials: false`)}      - uses: ${setupNode}
        with:
          node-version: 24
          package-manager-cache: false
${installLine(plan, '      - run: ')}      - run: ${gateCommand(plan)}
        env:
${line(!plan.addressInFile, `          RUNGATE_API_URL: \${{ vars.RUNGATE_API_URL }}`)}          RUNGATE_API_KEY: \${{ secrets.RUNGATE_API_KEY }}
`,
  },
  {
    provider: 'gitlab',
    title: 'GitLab CI',
    file: '.gitlab-ci.yml',
    takesImage: true,
    keyPlace: 'Settings, CI/CD, Variables: RUNGATE_API_KEY, masked',
    addressPlace: 'the same page: RUNGATE_API_URL',
    // GitLab always checks out the repository.
    text: (plan) => `${jobOf(plan)}:
${line(plan.stage !== undefined, `  stage: ${plan.stage}`)}  image:${ownImage(plan, (image) => `\n    name: ${image}\n    entrypoint: ['']`) ?? ' node:24-slim'}
  timeout: ${jobMinutes(plan)} minutes
  interruptible: true
  script:
${installLine(plan, '    - ')}    - ${gateCommand(plan, '--junit rungate.xml --report rungate.env')}
  artifacts:
    when: always
    reports:
      junit: rungate.xml
      dotenv: rungate.env
`,
  },
  {
    provider: 'circleci',
    title: 'CircleCI',
    file: '.circleci/config.yml',
    keyPlace: 'Organization Settings, Contexts: a context "rungate" with RUNGATE_API_KEY',
    addressPlace: 'the same context: RUNGATE_API_URL',
    text: (plan) => `version: 2.1
jobs:
  ${jobOf(plan)}:
    docker:
      - image: cimg/node:lts
    resource_class: small
    steps:
${line(plan.checkout, '      - checkout')}${installLine(plan, '      - run: ')}      - run:
          name: rungate
          command: ${gateCommand(plan, '--junit rungate/junit.xml')}
      - store_test_results:
          path: rungate
      - store_artifacts:
          path: rungate
workflows:
  gate:
    jobs:
      - ${jobOf(plan)}:
          context: rungate
`,
  },
  {
    provider: 'jenkins',
    title: 'Jenkins',
    file: 'Jenkinsfile',
    takesImage: true,
    keyPlace: 'Manage Jenkins, Credentials: a "secret text" with the id rungate-api-key',
    addressPlace: 'Manage Jenkins, System, Global properties: RUNGATE_API_URL',
    // Jenkins always checks out the repository. If the step needs no file of it, the step sets the address too.
    text: (plan) => `pipeline {
  agent {${ownImage(plan, jenkinsImage) ?? " docker { image 'node:24-slim' } "}}
  options { timeout(time: ${jobMinutes(plan)}, unit: 'MINUTES') }
  environment {
${line(!plan.checkout, "    RUNGATE_API_URL = 'https://service.example.com'")}    RUNGATE_API_KEY = credentials('rungate-api-key')
${line(plan.installation.image === undefined, "    // If the image does not know the user of the agent, HOME is /, which is not writable.\n    npm_config_cache = '.npm'")}  }
  stages {
    stage('${jobOf(plan)}') {
      steps {
${installLine(plan, "        sh '", "'")}        sh '${gateCommand(plan, '--junit rungate.xml')}'
      }
    }
  }
  post {
    always { junit testResults: 'rungate.xml', allowEmptyResults: true }
  }
}
`,
  },
  {
    provider: 'azure',
    title: 'Azure Pipelines',
    file: 'azure-pipelines.yml',
    keyPlace: 'Pipelines, Library: a variable group "rungate" with RUNGATE_API_KEY as a secret',
    addressPlace: 'the same group: RUNGATE_API_URL',
    // Azure leaves the reference to an undefined variable unexpanded, and rungate would take it for the address.
    text: (plan) => `variables:
  - group: rungate
jobs:
  - job: ${jobOf(plan).replaceAll('-', '_')}
    pool:
      vmImage: ubuntu-latest
    timeoutInMinutes: ${jobMinutes(plan)}
    steps:
      - checkout: ${plan.checkout ? 'self' : 'none'}
${installLine(plan, '      - bash: ')}      - bash: ${gateCommand(plan, '--junit rungate.xml')}
        displayName: rungate
        env:
${line(!plan.addressInFile, '          RUNGATE_API_URL: $(RUNGATE_API_URL)')}          RUNGATE_API_KEY: $(RUNGATE_API_KEY)
      - task: PublishTestResults@2
        condition: always()
        inputs:
          testResultsFormat: JUnit
          testResultsFiles: rungate.xml
`,
  },
  {
    provider: 'bitbucket',
    title: 'Bitbucket Pipelines',
    file: 'bitbucket-pipelines.yml',
    keyPlace: 'Repository settings, Repository variables: RUNGATE_API_KEY, secured',
    addressPlace: 'the same page: RUNGATE_API_URL',
    text: (plan) => `image: node:24-slim
pipelines:
  default:
    - step:
        name: ${jobOf(plan)}
        max-time: ${jobMinutes(plan)}
${line(!plan.checkout, '        clone:\n          enabled: false')}        script:
${installLine(plan, '          - ')}          - ${gateCommand(plan, '--junit test-results/rungate.xml')}
        artifacts:
          - test-results/**
`,
  },
  {
    provider: 'buildkite',
    title: 'Buildkite',
    file: '.buildkite/pipeline.yml',
    keyPlace: "the cluster's Secrets: RUNGATE_API_KEY",
    addressPlace: 'the same page: RUNGATE_API_URL',
    // Buildkite always checks out the repository. A secret that the step names but that does not exist fails the job.
    text: (plan) => `steps:
  - label: ${jobOf(plan)}
    key: ${jobOf(plan)}
    command:
${installLine(plan, '      - ')}      - ${gateCommand(plan, '--junit rungate.xml')}
    timeout_in_minutes: ${jobMinutes(plan)}
    secrets:
${line(!plan.addressInFile, '      - RUNGATE_API_URL')}      - RUNGATE_API_KEY
    artifact_paths:
      - rungate.xml
`,
  },
];

export function pipelineOf(provider: Provider): Pipeline | undefined {
  return pipelines.find((pipeline) => pipeline.provider === provider);
}
