import { gateLines, installLine, line, type Pipeline } from './pipeline.ts';

export const circleci: Pipeline = {
  provider: 'circleci',
  title: 'CircleCI',
  file: '.circleci/config.yml',
  added: false,
  signs: ['.circleci'],
  host: null,
  keyPlace: 'Organization Settings, Contexts: a context "rungate" with RUNGATE_API_KEY',
  addressPlace: 'in that context too: RUNGATE_API_URL',
  text: (plan) => `version: 2.1
jobs:
  e2e:
    docker:
      - image: cimg/node:lts
    resource_class: small
    steps:
${line(plan.flags === '', '      - checkout')}${installLine(plan, '      - run: ')}      - run:
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
      - e2e:
          context: rungate
`,
};
