import { gateLines, installLine, type Pipeline } from './pipeline.ts';

export const gitlab: Pipeline = {
  provider: 'gitlab',
  title: 'GitLab CI',
  file: '.gitlab-ci.yml',
  added: false,
  signs: ['.gitlab-ci.yml'],
  host: /^gitlab\.|\.gitlab\./,
  keyPlace: 'Settings, CI/CD, Variables: RUNGATE_API_KEY, masked',
  addressPlace: 'there too: RUNGATE_API_URL',
  // GitLab checks out by itself.
  text: (plan) => `e2e:
  image: node:24-slim
  timeout: 60 minutes
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
};
