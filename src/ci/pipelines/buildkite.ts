import { gateLines, installLine, line, type Pipeline } from './pipeline.ts';

export const buildkite: Pipeline = {
  provider: 'buildkite',
  title: 'Buildkite',
  file: '.buildkite/pipeline.yml',
  added: false,
  signs: ['.buildkite'],
  host: null,
  keyPlace: "the cluster's Secrets: RUNGATE_API_KEY",
  addressPlace: 'there too: RUNGATE_API_URL',
  // Buildkite checks out by itself. A secret that is named and not there fails the job.
  text: (plan) => `steps:
  - label: e2e
    key: e2e
    command:
${installLine(plan, '      - ')}      - >-
${gateLines(plan, '--junit rungate.xml', '        ')}
    timeout_in_minutes: 60
    secrets:
${line(!plan.addressInFile, '      - RUNGATE_API_URL')}      - RUNGATE_API_KEY
    artifact_paths:
      - rungate.xml
`,
};
