import { gateLines, installLine, line, type Pipeline } from './pipeline.ts';

export const azure: Pipeline = {
  provider: 'azure',
  title: 'Azure Pipelines',
  file: 'azure-pipelines.yml',
  added: false,
  signs: ['azure-pipelines.yml', '.azure-pipelines'],
  host: /^(ssh\.)?dev\.azure\.com$|\.visualstudio\.com$/,
  keyPlace: 'Pipelines, Library: a variable group "rungate" with RUNGATE_API_KEY as a secret',
  addressPlace: 'in that group too: RUNGATE_API_URL',
  // A variable that is not there stays as it is written, and would be taken for an address.
  text: (plan) => `variables:
  - group: rungate
jobs:
  - job: e2e
    pool:
      vmImage: ubuntu-latest
    timeoutInMinutes: 60
    steps:
      - checkout: ${plan.flags === '' ? 'self' : 'none'}
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
};
