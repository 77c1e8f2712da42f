// Prints one line for each failed test in a JSON report of vitest, or for a file that could not be run at all. Called by
// the scripts beside it.
import { existsSync, readFileSync } from 'node:fs';

const path = process.argv[2];
const { testResults } = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { testResults: [] };
const failed = testResults.filter(({ status }) => status === 'failed');
if (failed.length === 0)
  console.log('  no test failed: vitest itself did, or an error came outside of tests');
for (const { name, assertionResults, message } of failed) {
  // Holds for a copy of the checkout too.
  const file = name.replace(/^.*?\/(?=test\/)/, '');
  const tests = assertionResults.filter(({ status }) => status === 'failed');
  for (const { fullName } of tests) console.log(`  ${file}: ${fullName}`);
  if (tests.length === 0) console.log(`  ${file}: ${message.split('\n')[0]}`);
}
