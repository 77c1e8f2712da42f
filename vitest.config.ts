import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { reportingForks } from './test/runs/reporting-forks.js';

/** The path for the results as JSON, beside the report for a person. .ci/run sets it. */
const report = process.env.DROVER_TEST_REPORT;
/**
 * True after `npm test`, which has just built everything: Node loads the built tests and Drover without a transform.
 * Otherwise the tests run from their sources.
 */
const isBuilt = process.env.DROVER_TEST_BUILT === '1';
/** This file replaces a module, and the replacement would last for the files after it. */
const MOCKING = 'test/integration/configuration-files/configuration-polling.test.ts';
/**
 * The tests that take most of the time: programs started as an operator does, browsers, tools and stores of their own,
 * and rooms that fill sockets, disks and time. `npm run test:long` runs them, and .ci/run after `npm test`.
 */
const LONG = [
  'e2e/**/*',
  'contract/{screen-runtime,tmux-runtime,docker-runtime,podman-runtime,etcd-store}',
  'integration/{api,channel,client,extensions,live-log,masters,openapi,runtime,store,templates}/**/*',
];
/**
 * The long tests that start git hundreds of times. Each file has a process of its own: the more memory a process has, the
 * longer it takes to start a program, and in the processes of the others these tests took twice as long.
 */
const GIT = ['integration/git/**/*'];
/** The long tests that `npm test` runs too, because they show that the whole works. */
const KEPT = ['e2e/{main-job,lifecycle,crash}'];
/** The rooms with the longest files come first, so that no worker is left with one of them at the end. */
const LONGEST_FIRST = ['e2e', 'contract', 'simulation', 'integration', 'property', 'unit'];

class RoomSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number =>
      LONGEST_FIRST.findIndex((room) => moduleId.includes(`/test/${room}/`));
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

const filesOf = (names: readonly string[]): string[] =>
  names.map((name) => `${isBuilt ? 'build/' : ''}test/${name}.test.${isBuilt ? 'js' : 'ts'}`);

function project(
  name: string,
  include: readonly string[],
  exclude: readonly string[],
  // Otherwise each file would load most of Drover anew: a fifth of the CPU time of the whole run.
  isolate = false,
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: filesOf(include),
      exclude: [...filesOf(exclude), MOCKING, MOCKING.replace(/^(.*)ts$/, 'build/$1js')],
      server: { deps: { external: isBuilt ? [/\/build\/(?!.*\.test\.js$)/] : [] } },
      isolate,
    },
  };
}

export default defineConfig({
  test: {
    environment: 'node',
    setupFiles: ['test/runs/property-seed.ts'],
    // The limits only end waits for something that never comes. A loaded machine needs a minute for what an idle one
    // does in a second.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    pool: reportingForks,
    // More workers than cores, because tests often wait for processes that they started.
    maxWorkers: 4,
    sequence: { sequencer: RoomSequencer },
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      { extends: true, test: { name: 'alone', include: [MOCKING] } },
      project(
        'together',
        ['{unit,integration,property,contract,simulation}/**/*', ...KEPT],
        [...LONG.slice(1), ...GIT],
      ),
      project('long', LONG, KEPT),
      project('git', GIT, [], true),
    ],
  },
});
