/**
 * Shares one daemon among all tests of a file, because a start costs as much as most tests. Each test begins on a node
 * without configurations, instances and templates. After a failed test the next test gets a new daemon.
 */
import { afterAll, afterEach, beforeEach } from 'vitest';
import { DaemonWorld, type DaemonWorldOptions, failedOf } from './daemon.js';

/** Call it once in a file; `take` gets the running daemon before each test. */
export function shareDaemon(take: (world: DaemonWorld) => void, options: DaemonWorldOptions = {}): void {
  let shared: DaemonWorld | undefined;

  beforeEach(async () => {
    if (shared === undefined) {
      shared = await DaemonWorld.create(options);
      await shared.start();
    }
    take(shared);
  });

  afterEach(async ({ task }) => {
    const world = shared;
    shared = undefined;
    try {
      if (failedOf(task).isFailed) throw new Error('the test has failed');
      await world?.clear();
      shared = world;
    } catch (error) {
      await world?.finish({ isFailed: true });
      if (!failedOf(task).isFailed) throw error;
    }
  });

  afterAll(() => shared?.finish({ isFailed: false }));
}
