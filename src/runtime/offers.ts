/**
 * The runtimes that this node offers now. They are probed at the start, from time to time, and at once when a start
 * finds its tool missing, because tools come and go while the node runs.
 */
import { BOUNDS } from '../channel/protocol/messages.js';
import type { TimerHandle } from '../loop/clock.js';
import { messageOf } from '../model/errors.js';
import type { RuntimeOffer } from '../model/node.js';
import { cutToBytes } from '../model/words.js';
import type { Ambient } from '../telemetry/ambient.js';
import { unavailable } from './failures.js';
import type { Runtime } from './runtime.js';

const PROBE_EVERY_MS = 30_000;

interface RuntimeOffersOptions extends Ambient {
  readonly runtimes: readonly Runtime[];
  /** Called after a probe that changed an offer; not for the first probe. */
  readonly onChange: () => void;
}

export class RuntimeOffers {
  readonly #options: RuntimeOffersOptions;
  readonly #offers = new Map<string, RuntimeOffer>();
  readonly #runtimes: ReadonlyMap<string, Runtime>;
  #timer: TimerHandle | undefined;
  /** The probe under way; further requests share it. */
  #probing: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: RuntimeOffersOptions) {
    this.#options = options;
    this.#runtimes = new Map(options.runtimes.map((runtime) => [runtime.key, runtime]));
  }

  /** Runs the first probe, after which all offers are known. Then probes from time to time until `stop`. */
  async start(): Promise<void> {
    await this.#probeAll();
    this.#probeLater();
  }

  /** Idempotent. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Every runtime of this node, whether it is offered now or not. */
  get all(): readonly Runtime[] {
    return this.#options.runtimes;
  }

  list(): readonly RuntimeOffer[] {
    return [...this.#offers.values()];
  }

  get(key: string): Runtime | undefined {
    return this.#runtimes.get(key);
  }

  /** The runtime with this key. Throws DRV_RUNTIME_UNAVAILABLE for a runtime that this node does not know. */
  require(key: string): Runtime {
    const runtime = this.#runtimes.get(key);
    if (runtime !== undefined) return runtime;
    throw unavailable(`this node has no runtime ${key}`);
  }

  /** Why the runtime cannot be used, for an operator; null: it can. */
  problemOf(key: string): string | null {
    const offer = this.#offers.get(key);
    if (offer === undefined) return `this node has no runtime ${key}`;
    return offer.available
      ? null
      : `runtime ${key} is not available on this node: ${offer.reason ?? 'unknown reason'}`;
  }

  /** Probes at once, for example after a start that found its tool missing. Does nothing while a probe is under way. */
  probeNow(): void {
    if (this.#isStopped || this.#probing !== undefined) return;
    this.#probing = this.#probeAndTell().finally(() => {
      this.#probing = undefined;
    });
  }

  async #probeAndTell(): Promise<void> {
    try {
      const isChanged = await this.#probeAll();
      if (isChanged && !this.#isStopped) this.#options.onChange();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the runtimes could not be probed');
    }
  }

  /** Probes all runtimes. Resolves with true when an offer changed. */
  async #probeAll(): Promise<boolean> {
    const changed = await Promise.all(this.#options.runtimes.map((runtime) => this.#probe(runtime)));
    return changed.includes(true);
  }

  async #probe(runtime: Runtime): Promise<boolean> {
    const offer = await probed(runtime);
    const before = this.#offers.get(runtime.key);
    this.#offers.set(runtime.key, offer);
    const isChanged =
      before?.available !== offer.available ||
      before.version !== offer.version ||
      before.reason !== offer.reason;
    if (isChanged && before !== undefined) this.#sayChange(offer);
    return isChanged;
  }

  #sayChange({ key, available, version, reason }: RuntimeOffer): void {
    const { logger } = this.#options;
    if (available)
      logger.info({ runtime: key }, `runtime ${key} is offered${version === null ? '' : ` (${version})`}`);
    else logger.warn({ runtime: key }, `runtime ${key} is not offered: ${reason ?? 'unknown reason'}`);
  }

  #probeLater(): void {
    this.#timer = this.#options.clock.setTimer(PROBE_EVERY_MS, () => {
      this.probeNow();
      if (!this.#isStopped) this.#probeLater();
    });
  }
}

/** Never rejects: a failed probe becomes an offer that is not available. */
async function probed(runtime: Runtime): Promise<RuntimeOffer> {
  try {
    const { version, reason, ...offer } = await runtime.probe();
    return {
      ...offer,
      version: cut(version, BOUNDS.versionBytes),
      reason: cut(reason, BOUNDS.sentenceBytes),
    };
  } catch (error) {
    const reason = cut(messageOf(error), BOUNDS.sentenceBytes);
    return { key: runtime.key, available: false, version: null, reason };
  }
}

function cut(text: string | null, mostBytes: number): string | null {
  return text === null ? null : cutToBytes(text, mostBytes);
}
