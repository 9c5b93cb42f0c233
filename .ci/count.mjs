// Prints the sum of the test reports in one line, the last of the CI run.
import { readFileSync } from 'node:fs';

const sum = { passed: 0, failed: 0, skipped: 0 };
let broken = false;
for (const file of process.argv.slice(2)) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    sum.passed += report.numPassedTests;
    sum.failed += report.numFailedTests;
    sum.skipped += report.numPendingTests + report.numTodoTests;
    broken ||= !report.success;
    for (const suite of report.testResults) {
      for (const test of suite.assertionResults) {
        if (test.status === 'skipped' || test.status === 'pending') console.log(`skipped: ${test.fullName}`);
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
