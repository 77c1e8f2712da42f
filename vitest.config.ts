import { defineConfig } from 'vitest/config';

/** Set by .ci/run: where to write the results as JSON, beside what a person reads. */
const report = process.env.DROVER_TEST_REPORT;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
