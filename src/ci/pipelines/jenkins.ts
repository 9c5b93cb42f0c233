import { gateLines, installLine, line, type Pipeline } from './pipeline.ts';

export const jenkins: Pipeline = {
  provider: 'jenkins',
  title: 'Jenkins',
  file: 'Jenkinsfile',
  added: false,
  signs: ['Jenkinsfile'],
  host: null,
  keyPlace: 'Manage Jenkins, Credentials: a "secret text" with the id rungate-api-key',
  addressPlace: 'Manage Jenkins, System, Global properties: RUNGATE_API_URL',
  // Jenkins checks out by itself. A step that says all by itself names the address too.
  text: (plan) => `pipeline {
  agent { docker { image 'node:24-slim' } }
  options { timeout(time: 60, unit: 'MINUTES') }
  environment {
${line(plan.flags !== '', "    RUNGATE_API_URL = 'https://service.example.com'")}    RUNGATE_API_KEY = credentials('rungate-api-key')
  }
  stages {
    stage('e2e') {
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
};
