import { gateLines, installLine, line, type Pipeline } from './pipeline.ts';

/** By its commit: a tag can be moved. The same as in the project's own workflows. */
const checkout = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1';

export const github: Pipeline = {
  provider: 'github',
  title: 'GitHub Actions',
  file: '.github/workflows/rungate.yml',
  added: true,
  signs: ['.github/workflows', '.github'],
  host: /^github\.com$/,
  keyPlace: 'Settings, Secrets and variables, Actions: a secret RUNGATE_API_KEY',
  addressPlace: 'there, on the tab Variables: RUNGATE_API_URL',
  text: (plan) => `name: e2e
on: [push, pull_request]
permissions:
  contents: read
jobs:
  e2e:
    runs-on: ubuntu-latest
    timeout-minutes: 60
    # Pull requests from forks have no secrets.
    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository
    steps:
${line(plan.flags === '', `      - uses: ${checkout}\n        with:\n          persist-credentials: false`)}${installLine(plan, '      - run: ')}      - run: >-
${gateLines(plan, '--junit rungate.xml', '          ')}
        env:
${line(!plan.addressInFile, `          RUNGATE_API_URL: \${{ vars.RUNGATE_API_URL }}`)}          RUNGATE_API_KEY: \${{ secrets.RUNGATE_API_KEY }}
`,
};
