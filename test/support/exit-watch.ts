/** Collects a runtime's exits from the moment it is made, so that none is missed between an action and its wait. */
import type { Exit } from '../../src/model/run/past-exit.js';
import type { RunId, Runtime } from '../../src/runtime/runtime.js';
import { until } from './until.js';

export class ExitWatch {
  /** Every reported exit, in order. */
  readonly seen: { run: RunId; exit: Exit }[] = [];

  constructor(runtime: Runtime) {
    runtime.onExit((run, exit) => this.seen.push({ run, exit }));
  }

  of({ instanceId, run }: RunId): Exit[] {
    return this.seen
      .filter((one) => one.run.instanceId === instanceId && one.run.run === run)
      .map(({ exit }) => exit);
  }

  /** Waits for the exit of this run. */
  until(run: RunId): Promise<Exit> {
    return until(() => {
      const exit = this.of(run)[0];
      if (exit === undefined) throw new Error(`no exit of ${run.instanceId}/${run.run} yet`);
      return exit;
    });
  }
}
