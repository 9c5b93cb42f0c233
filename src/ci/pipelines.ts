import type { Provider } from './context.ts';
import type { Installation } from './installation.ts';

/** What a pipeline's step says itself, and what the project file says for it. */
export interface Plan {
  /** The flags that say what to run, as far as the project file in the repository's root does not. */
  readonly flags: string;
  /** The step needs the repository's files: a project file, a lockfile. */
  readonly checkout: boolean;
  /** The package that is gated, as a path from the repository's root; empty for the root. */
  readonly folder: string;
  /** The project file has the service's address, so no variable is needed. */
  readonly addressInFile: boolean;
  /** The longest timeout of the project file, in milliseconds; null if it has none, and the step gives one. */
  readonly fileTimeoutMs: number | null;
  readonly installation: Installation;
}

/** The pipeline of one CI, as the pages show it and `rungate init` writes it. */
export interface Pipeline {
  readonly provider: Provider;
  readonly title: string;
  /** Where the CI looks for its pipelines, from the repository's root. */
  readonly file: string;
  /** The file is one of many, so it can be added. Where one file has all pipelines, the user edits it. */
  readonly added?: true;
  /** Where the API key goes, and where the address. */
  readonly keyPlace: string;
  readonly addressPlace: string;
  text(plan: Plan): string;
}

/** The option for the deadline; empty if the project file has one, over which the option would take precedence. */
export function timeoutFlag({ fileTimeoutMs }: Plan): string {
  return fileTimeoutMs === null ? '--timeout 45m' : '';
}

/** The job's own limit in minutes: above the deadline, so that rungate ends the wait and says why. */
function jobMinutes({ fileTimeoutMs }: Plan): number {
  return Math.max(60, Math.ceil((fileTimeoutMs ?? 0) / 60_000) + 15);
}

/**
 * Returns the gate in two lines, for a folded YAML text. The first line is a strict gate alone: a shell that reads the lines
 * as two commands, as with `|` instead of `>-`, must not turn the step green. With `exec` and nothing after it, a signal to
 * the job's shell reaches the gate, and the exit code is the gate's.
 */
export function gateLines(plan: Plan, reports: string, indent: string): string {
  const { flags, installation } = plan;
  const options = [flags, timeoutFlag(plan), reports].filter((one) => one !== '').join(' ');
  return `${indent}exec ${installation.start} run trigger --wait --strict\n${indent}${options}`;
}

/** The path as part of a name: letters, digits and dashes. */
function slugOf(folder: string): string {
  return folder.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

/** The name of the job: each package of a repository has one of its own. */
export function jobOf({ folder }: Plan): string {
  return folder === '' ? 'e2e' : `e2e-${slugOf(folder)}`;
}

/** The file of a pipeline: each package has one of its own where the CI takes many. */
export function pipelineFile({ file, added }: Pipeline, { folder }: Plan): string {
  return folder === '' || added !== true ? file : file.replace(/(?=\.[a-z]+$)/, `-${slugOf(folder)}`);
}

/** Returns the command that installs from the lockfile, with what the CI puts around it; empty without one. */
function installLine({ installation: { install } }: Plan, before: string, after = ''): string {
  return line(install !== null, `${before}${install}${after}`);
}

function line(needed: boolean, text: string): string {
  return needed ? `${text}\n` : '';
}

/** By its commit: a tag can be moved. The same as in the project's own workflows. */
const checkout = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1';

/** docs/ci.md shows these texts, and `rungate init` writes them. */
export const pipelines: readonly Pipeline[] = [
  {
    provider: 'github',
    title: 'GitHub Actions',
    file: '.github/workflows/rungate.yml',
    added: true,
    keyPlace: 'Settings, Secrets and variables, Actions: a secret RUNGATE_API_KEY',
    addressPlace: 'there, on the tab Variables: RUNGATE_API_URL',
    text: (plan) => `name: ${jobOf(plan)}
on: [push, pull_request]
permissions:
  contents: read
jobs:
  ${jobOf(plan)}:
    runs-on: ubuntu-latest
    timeout-minutes: ${jobMinutes(plan)}
    # Pull requests from forks have no secrets.
    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository
    steps:
${line(plan.checkout, `      - uses: ${checkout}\n        with:\n          persist-credentials: false`)}${installLine(plan, '      - run: ')}      - run: >-
${gateLines(plan, '--junit rungate.xml', '          ')}
        env:
${line(!plan.addressInFile, `          RUNGATE_API_URL: \${{ vars.RUNGATE_API_URL }}`)}          RUNGATE_API_KEY: \${{ secrets.RUNGATE_API_KEY }}
`,
  },
  {
    provider: 'gitlab',
    title: 'GitLab CI',
    file: '.gitlab-ci.yml',
    keyPlace: 'Settings, CI/CD, Variables: RUNGATE_API_KEY, masked',
    addressPlace: 'there too: RUNGATE_API_URL',
    // GitLab checks out by itself.
    text: (plan) => `${jobOf(plan)}:
  image: node:24-slim
  timeout: ${jobMinutes(plan)} minutes
  interruptible: true
  script:
${installLine(plan, '    - ')}    - >-
${gateLines(plan, '--junit rungate.xml --report rungate.env', '      ')}
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
    addressPlace: 'in that context too: RUNGATE_API_URL',
    text: (plan) => `version: 2.1
jobs:
  ${jobOf(plan)}:
    docker:
      - image: cimg/node:lts
    resource_class: small
    steps:
${line(plan.checkout, '      - checkout')}${installLine(plan, '      - run: ')}      - run:
          name: rungate
          command: >-
${gateLines(plan, '--junit rungate/junit.xml', '            ')}
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
    keyPlace: 'Manage Jenkins, Credentials: a "secret text" with the id rungate-api-key',
    addressPlace: 'Manage Jenkins, System, Global properties: RUNGATE_API_URL',
    // Jenkins checks out by itself. A step that says all by itself names the address too.
    text: (plan) => `pipeline {
  agent { docker { image 'node:24-slim' } }
  options { timeout(time: ${jobMinutes(plan)}, unit: 'MINUTES') }
  environment {
${line(!plan.checkout, "    RUNGATE_API_URL = 'https://service.example.com'")}    RUNGATE_API_KEY = credentials('rungate-api-key')
    // HOME is / where the image does not know the user of the agent, and no cache can be written there.
    npm_config_cache = '.npm'
  }
  stages {
    stage('${jobOf(plan)}') {
      steps {
${installLine(plan, "        sh '", "'")}        sh '${gateLines(plan, '--junit rungate.xml', '').replace('\n', ' ')}'
      }
    }
  }
  post {
    always { junit 'rungate.xml' }
  }
}
`,
  },
  {
    provider: 'azure',
    title: 'Azure Pipelines',
    file: 'azure-pipelines.yml',
    keyPlace: 'Pipelines, Library: a variable group "rungate" with RUNGATE_API_KEY as a secret',
    addressPlace: 'in that group too: RUNGATE_API_URL',
    // A variable that is not there stays as it is written, and would be taken for an address.
    text: (plan) => `variables:
  - group: rungate
jobs:
  - job: ${jobOf(plan).replaceAll('-', '_')}
    pool:
      vmImage: ubuntu-latest
    timeoutInMinutes: ${jobMinutes(plan)}
    steps:
      - checkout: ${plan.checkout ? 'self' : 'none'}
${installLine(plan, '      - bash: ')}      - bash: >-
${gateLines(plan, '--junit rungate.xml', '          ')}
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
    addressPlace: 'there too: RUNGATE_API_URL',
    text: (plan) => `image: node:24-slim
pipelines:
  default:
    - step:
        name: ${jobOf(plan)}
        max-time: ${jobMinutes(plan)}
${line(!plan.checkout, '        clone:\n          enabled: false')}        script:
${installLine(plan, '          - ')}          - >-
${gateLines(plan, '--junit test-results/rungate.xml', '            ')}
        artifacts:
          - test-results/**
`,
  },
  {
    provider: 'buildkite',
    title: 'Buildkite',
    file: '.buildkite/pipeline.yml',
    keyPlace: "the cluster's Secrets: RUNGATE_API_KEY",
    addressPlace: 'there too: RUNGATE_API_URL',
    // Buildkite checks out by itself. A secret that is named and not there fails the job.
    text: (plan) => `steps:
  - label: ${jobOf(plan)}
    key: ${jobOf(plan)}
    command:
${installLine(plan, '      - ')}      - >-
${gateLines(plan, '--junit rungate.xml', '        ')}
    timeout_in_minutes: ${jobMinutes(plan)}
    secrets:
${line(!plan.addressInFile, '      - RUNGATE_API_URL')}      - RUNGATE_API_KEY
    artifact_paths:
      - rungate.xml
`,
  },
];

export function pipelineOf(provider: Provider): Pipeline | undefined {
  return pipelines.find((one) => one.provider === provider);
}
