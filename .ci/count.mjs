// Prints the tests that did not simply pass, and the sum of the test reports as the last line of the CI run.
import { readFileSync } from 'node:fs';

const sum = { passed: 0, failed: 0, skipped: 0 };
let broken = false;

const firstLine = (messages) => (messages[0] ?? '').split('\n', 1)[0].slice(0, 300);

for (const file of process.argv.slice(2)) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    sum.passed += report.numPassedTests;
    sum.failed += report.numFailedTests;
    sum.skipped += report.numPendingTests + report.numTodoTests;
    if (!report.success && report.numFailedTests === 0) console.log(`failed outside of the tests: ${file}`);
    broken ||= !report.success;
    for (const suite of report.testResults) {
      const name = (suite.name ?? file).replace(`${process.cwd()}/`, '');
      if (suite.status === 'failed' && suite.message)
        console.log(`failed to load: ${name}: ${firstLine([suite.message])}`);
      for (const { status, fullName, failureMessages = [] } of suite.assertionResults) {
        if (status === 'skipped' || status === 'pending') console.log(`skipped: ${fullName}`);
        if (status === 'failed') console.log(`failed: ${name}: ${fullName}: ${firstLine(failureMessages)}`);
        // Vitest keeps the failure of the first attempt.
        if (status === 'passed' && failureMessages.length > 0) {
          console.log(`passed on the second attempt: ${name}: ${fullName}: ${firstLine(failureMessages)}`);
        }
      }
    }
  } catch (error) {
    console.log(`no report: ${file}: ${error.message}`);
    broken = true;
  }
}
const skipped = sum.skipped === 0 ? '' : `, ${sum.skipped} skipped`;
console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);
process.exitCode = broken || sum.failed > 0 || sum.passed === 0 ? 1 : 0;
