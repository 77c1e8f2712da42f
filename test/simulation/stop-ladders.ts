/**
 * Judges the order of every stop: the stop command, the signal after half of the time, SIGKILL at its end. Each daemon
 * is judged by what it did itself. One that goes on where another was killed keeps the other's times, by a wall clock
 * that may be wrong.
 */
import type { StartSpec } from '../../src/runtime/runtime.js';
import type { Life } from './machine/life.js';

/** Variables of a fake start by which the world knows how it is to be stopped. */
export const STOP_TIMEOUT_MS = 'STOP_TIMEOUT_MS';
export const HAS_STOP_COMMAND = 'HAS_STOP_COMMAND';

interface Ladder {
  /** The daemons that have done something to the run. */
  readonly lives: Set<Life>;
  /** When (virtual ms) the first of them began. */
  readonly begunAt: number;
  hasCommand: boolean;
}

export class StopLadders {
  /** By process. */
  readonly #ladders = new WeakMap<StartSpec, Ladder>();

  /** What is wrong with the stop command that a daemon is about to write, or undefined. */
  command(life: Life, spec: StartSpec, now: number): string | undefined {
    const ladder = this.#ladderOf(life, spec, now);
    if (spec.environment[HAS_STOP_COMMAND] !== 'true') return `${spec.instanceId} has no stop command`;
    if (ladder.lives.size > 1) return undefined;
    if (ladder.hasCommand) return `the stop command of ${spec.instanceId} is written twice`;
    ladder.hasCommand = true;
    return undefined;
  }

  /** What is wrong with the signal that a daemon is about to send, or undefined. */
  signal(life: Life, signal: NodeJS.Signals, spec: StartSpec, now: number): string | undefined {
    const { instanceId: id } = spec;
    const { begunAt, lives, hasCommand } = this.#ladderOf(life, spec, now);
    const timeoutMs = Number(spec.environment[STOP_TIMEOUT_MS]);
    if (lives.size > 1 || timeoutMs === 0) return undefined;
    const afterMs = now - begunAt;
    if (signal === 'SIGKILL')
      return afterMs < timeoutMs
        ? `${id} gets SIGKILL ${afterMs} ms after its stop began, not ${timeoutMs} ms`
        : undefined;
    if (spec.environment[HAS_STOP_COMMAND] !== 'true') return undefined;
    if (!hasCommand) return `${id} gets ${signal} before its stop command`;
    return afterMs < timeoutMs / 2
      ? `${id} gets ${signal} ${afterMs} ms after its stop command, not ${timeoutMs / 2} ms`
      : undefined;
  }

  #ladderOf(life: Life, spec: StartSpec, now: number): Ladder {
    const ladder = this.#ladders.get(spec) ?? { lives: new Set<Life>(), begunAt: now, hasCommand: false };
    this.#ladders.set(spec, ladder);
    ladder.lives.add(life);
    return ladder;
  }
}
