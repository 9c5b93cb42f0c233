import { gateLines, installLine, line, type Pipeline } from './pipeline.ts';

export const bitbucket: Pipeline = {
  provider: 'bitbucket',
  title: 'Bitbucket Pipelines',
  file: 'bitbucket-pipelines.yml',
  added: false,
  signs: ['bitbucket-pipelines.yml'],
  host: /^bitbucket\.org$/,
  keyPlace: 'Repository settings, Repository variables: RUNGATE_API_KEY, secured',
  addressPlace: 'there too: RUNGATE_API_URL',
  text: (plan) => `image: node:24-slim
pipelines:
  default:
    - step:
        name: e2e
        max-time: 60
${line(plan.flags !== '', '        clone:\n          enabled: false')}        script:
${installLine(plan, '          - ')}          - >-
${gateLines(plan, '--junit test-results/rungate.xml', '            ')}
        artifacts:
          - test-results/**
`,
};
