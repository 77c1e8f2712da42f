// Prints `N passed, N failed` of JSON reports of vitest, those that are there. A file that could not be run at all holds no
// tests in its report and counts as one failure.
import { existsSync, readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
for (const path of process.argv.slice(2).filter((one) => existsSync(one))) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  passed += report.numPassedTests;
  failed += report.numFailedTests + brokenFiles.length;
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
