/**
 * Plays every property with newly drawn seeds, and prints the seeds that fail:
 * `npm run test:seeds -- [--seeds 20] [-- <parameters of vitest, such as the file of one property>]`.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { seeds: { type: 'string', default: '20' } },
  allowPositionals: true,
});
const wanted = Number(values.seeds);
const asked = positionals.length > 0 ? positionals : ['property/'];
const directory = mkdtempSync(join(tmpdir(), 'drover-seeds-'));
const report = join(directory, 'report.json');
let passed = 0;

/** The tests that failed in one run of vitest, in words. */
function failuresOf({ status, stderr }) {
  if (status === 0) return [];
  try {
    return JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter((one) => one.status === 'failed')
        .map((one) => `${relative('.', name)}: ${one.fullName}`),
    );
  } catch {
    return [`vitest ended with ${status}: ${String(stderr).trim().split('\n').at(-1)}`];
  }
}

try {
  for (let tried = 0; tried < wanted; tried++) {
    const seed = String(randomInt(2 ** 31));
    rmSync(report, { force: true });
    const failures = failuresOf(
      spawnSync('npx', ['vitest', 'run', '--reporter=json', `--outputFile=${report}`, ...asked], {
        env: { ...process.env, DROVER_PROPERTY_SEED: seed, DROVER_TEST_SEED: seed },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    if (failures.length === 0) passed++;
    for (const failure of failures) console.log(`DROVER_PROPERTY_SEED=${seed}: ${failure}`);
  }
} finally {
  rmSync(directory, { recursive: true });
}
console.log(`${passed} of ${wanted} seeds passed`);
process.exitCode = passed === wanted ? 0 : 1;
