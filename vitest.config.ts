import { defineConfig } from 'vitest/config';

/** Set by .ci/run: where to write the results as JSON, beside what a person reads. */
const report = process.env.DROVER_TEST_REPORT;
/** It replaces a module, which would last for the files after it. */
const MOCKING = 'test/integration/configuration-files/configuration-polling.test.ts';

export default defineConfig({
  test: {
    environment: 'node',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/{contract,e2e,property,simulation}/**/*.test.ts', MOCKING],
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/{unit,integration}/**/*.test.ts'],
          exclude: [MOCKING],
          // Each file would load most of Drover anew: that is a fifth of the CPU time of the whole run.
          isolate: false,
        },
      },
    ],
  },
});
