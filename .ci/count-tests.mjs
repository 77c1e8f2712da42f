// Prints `N passed, N failed` from a JSON report of vitest. A file that could not be run at all holds no tests in the
// report and counts as one failure.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
);
const failed = report.numFailedTests + brokenFiles.length;
process.stdout.write(`${report.numPassedTests} passed, ${failed} failed\n`);
