/**
 * Remembers in memory when each node, and the program of each instance, was last heard of. It measures time in the
 * master's own waking time: a clock that stands still while this process is stopped or starved. So a master that was
 * stopped for a while declares no node lost, and first reads the beats that came meanwhile.
 */
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { BEAT_EVERY_MS } from '../protocol/messages.js';

const TICK_MS = 500;
/** A tick that comes later than this counts nothing: this process itself stalled, and has not read what came. */
const MAX_TICK_MS = 1000;
/**
 * A beat after a longer silence is reported to the listener, because the node may have been declared lost meanwhile.
 */
export const SILENT_MS = 1.5 * BEAT_EVERY_MS;
/**
 * How long a master waits for a node that it disconnected, or that cannot know yet that this master leads. Such a
 * node may dial other masters first, and it pauses between two tries.
 */
const RETURN_MS = 10_000;
/** How long the only master of a cluster waits after its start: its nodes dial no other one. */
const SOLE_RETURN_MS = 2000;
/** How many programs are remembered. The longest silent ones are forgotten first, and count as silent then, too. */
const MOST_PROGRAMS = 100_000;

interface Heard {
  /** The waking time of the last beat, or a later time until which the node does not count as silent. */
  awakeAt: number;
  /** The wall clock at the last beat, for display. */
  wallAt: number;
  isConnected: boolean;
  /** The waking time at which the node announced that it will be back; undefined: no announcement. */
  byeAt: number | undefined;
}

interface NodeContact {
  readonly isConnected: boolean;
  readonly silentMs: number;
  /** The time since the node announced that it will be back; null: no announcement. */
  readonly goneForMs: number | null;
  /** The time since this master began to lead, for a node that was not heard of since. */
  readonly awaitedMs?: number;
}

export class BeatBook {
  readonly #clock: Clock;
  readonly #nodes = new Map<string, Heard>();
  /** The waking time of the last `PUT state` of each instance. */
  readonly #programs = new Map<string, number>();
  #awakeBase = 0;
  #returnMs = RETURN_MS;
  #lastTick: number;
  #timer: TimerHandle | undefined;
  #tick = 0;
  #listener: ((nodeId: string) => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastTick = clock.monotonic();
  }

  /** Begins anew: each node gets time to find this master, `isSole` or one of several. Repeatable after `stop`. */
  start({ isSole = false } = {}): void {
    this.#returnMs = isSole ? SOLE_RETURN_MS : RETURN_MS;
    this.#nodes.clear();
    this.#programs.clear();
    this.#awakeBase = 0;
    this.#tick++;
    this.#lastTick = this.#clock.monotonic();
    this.#scheduleTick();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#listener = undefined;
  }

  /**
   * Sets the only listener. The listener hears when a node connects, disconnects, says that it will be back, or beats
   * again after a silence. It does not hear of each beat.
   */
  onContactChange(listener: (nodeId: string) => void): void {
    this.#listener = listener;
  }

  /** A number that grows with every beat of any node. */
  get tick(): number {
    return this.#tick;
  }

  lastBeatAt(nodeId: string): number | undefined {
    return this.#nodes.get(nodeId)?.wallAt;
  }

  /**
   * The contact with a node. A node that was never heard of counts as silent from the time when it should have found
   * this master.
   */
  contact(nodeId: string): NodeContact {
    const heard = this.#nodes.get(nodeId);
    const awake = this.#awake();
    if (heard === undefined)
      return {
        isConnected: false,
        silentMs: Math.max(0, awake - this.#returnMs),
        goneForMs: null,
        awaitedMs: awake,
      };
    return {
      isConnected: heard.isConnected,
      silentMs: Math.max(0, awake - heard.awakeAt),
      goneForMs: heard.byeAt === undefined ? null : awake - heard.byeAt,
    };
  }

  connected(nodeId: string): void {
    const now = { awakeAt: this.#awake(), wallAt: this.#clock.now() };
    this.#nodes.set(nodeId, { ...now, isConnected: true, byeAt: undefined });
    this.#tick++;
    this.#listener?.(nodeId);
  }

  beat(nodeId: string): void {
    const heard = this.#nodes.get(nodeId);
    if (heard === undefined) return;
    const wasSilent = this.#awake() - heard.awakeAt > SILENT_MS;
    heard.awakeAt = this.#awake();
    heard.wallAt = this.#clock.now();
    this.#tick++;
    if (wasSilent) this.#listener?.(nodeId);
  }

  bye(nodeId: string): void {
    const heard = this.#nodes.get(nodeId);
    if (heard === undefined) return;
    heard.byeAt = this.#awake();
    this.#listener?.(nodeId);
  }

  /**
   * Called when this master ends the connection because of its own failure. The node's silence then counts only after
   * the time that the node needs to return.
   */
  sentAway(nodeId: string): void {
    const heard = this.#nodes.get(nodeId);
    if (heard !== undefined) heard.awakeAt = this.#awake() + RETURN_MS;
  }

  disconnected(nodeId: string): void {
    const heard = this.#nodes.get(nodeId);
    if (heard === undefined) return;
    heard.isConnected = false;
    this.#listener?.(nodeId);
  }

  /** Notes that the program of an instance, or a tool for it, has reported its state. */
  heardProgram(id: string): void {
    this.#programs.delete(id);
    this.#programs.set(id, this.#awake());
    const [oldest = id] = this.#programs.keys();
    if (this.#programs.size > MOST_PROGRAMS) this.#programs.delete(oldest);
  }

  /** Time since the last `PUT state` of an instance, or since this master began to lead. */
  silenceOfProgram(id: string): number {
    return Math.max(0, Math.round(this.#awake() - (this.#programs.get(id) ?? 0)));
  }

  #awake(): number {
    const sinceTickMs = this.#clock.monotonic() - this.#lastTick;
    return this.#awakeBase + (sinceTickMs > MAX_TICK_MS ? 0 : sinceTickMs);
  }

  #scheduleTick(): void {
    this.#timer = this.#clock.setTimer(TICK_MS, () => {
      this.#awakeBase = this.#awake();
      this.#lastTick = this.#clock.monotonic();
      this.#scheduleTick();
    });
  }
}
