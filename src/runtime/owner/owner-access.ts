/**
 * Keeps the daemon connected to the root's owner: connects, starts an owner when none runs, and finds out whether a
 * broken connection means that the owner died. Knows nothing of single instances.
 */
import { messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { unavailable } from '../failures.js';
import { type LaunchOptions, launchOwner, ownerLockName } from './owner-launch.js';
import { type LinkOptions, OwnerLink } from './owner-link.js';
import { isSeatTaken } from './owner-seat.js';
import type { OwnerHeld } from './protocol.js';

/** How many times `reach` tries: between the end of one owner and the start of the next, connections may fail. */
const MOST_ATTEMPTS = 5;
const RETRY_MS = 20;
const PATIENCE_MS = 3000;

interface OwnerAccessOptions extends LaunchOptions, Pick<LinkOptions, 'onExit'> {
  readonly logger: Logger;
  /** Called at every new connection with the runs that the owner holds, before the owner is asked anything else. */
  readonly onConnected: (held: readonly OwnerHeld[]) => void;
  /**
   * Called when the owner is dead. No start begins until it resolves. Absent: nothing is lost with an owner, and a new
   * owner is started at once to take over its runs.
   */
  readonly onDead?: () => Promise<void>;
}

export class OwnerAccess {
  readonly #options: OwnerAccessOptions;
  #link: OwnerLink | undefined;
  /** The connection attempt or recovery under way; all callers wait for the same one. */
  #pending: Promise<OwnerLink | undefined> | undefined;
  /** The reason why the owner must not be used any more. */
  #ended: string | undefined;

  constructor(options: OwnerAccessOptions) {
    this.#options = options;
  }

  /** The link to a running owner; undefined: no owner runs. */
  async find(): Promise<OwnerLink | undefined> {
    return this.#link ?? (await this.#once(() => this.#connect()));
  }

  /** The link to the owner, which is started if necessary. Throws DRV_RUNTIME_UNAVAILABLE. */
  async reach(): Promise<OwnerLink> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const link = await this.find();
      if (link !== undefined) return link;
      await launchOwner(this.#options);
    }
    const { title, name } = this.#options.kind;
    throw unavailable(`${title} starts but does not serve; see ${name}.log beside its socket`);
  }

  /** Disconnects from the owner, which keeps running. Idempotent. */
  async release(): Promise<void> {
    this.#ended ??= 'it was released';
    await this.#pending?.catch(() => undefined);
    const link = this.#link;
    this.#link = undefined;
    await link?.close();
  }

  async #once(work: () => Promise<OwnerLink | undefined>): Promise<OwnerLink | undefined> {
    if (this.#ended !== undefined) throw unavailable(`this runtime cannot be used any more: ${this.#ended}`);
    this.#pending ??= work().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  /**
   * Connects to a live owner. Undefined only when certainly no owner lives: the caller then ends the processes that an
   * owner would hold.
   */
  async #connect(): Promise<OwnerLink | undefined> {
    const { clock, kind } = this.#options;
    const onBroken = (replaced: boolean): void => this.#onBroken(replaced);
    for (const giveUpAt = clock.monotonic() + PATIENCE_MS; clock.monotonic() < giveUpAt; ) {
      const found = await OwnerLink.connect({ ...this.#options, onBroken });
      if (typeof found === 'object') {
        this.#link = found.link;
        this.#options.onConnected(found.held);
        return found.link;
      }
      if (found === 'nobody' && !(await isSeatTaken(ownerLockName(this.#options)))) return undefined;
      // The owner is just starting, just leaving, or makes its socket again.
      await new Promise<void>((resolve) => clock.setTimer(RETRY_MS, resolve));
    }
    throw unavailable(
      `${kind.title} of this root lives but cannot be reached; see ${kind.name}.log beside its socket`,
    );
  }

  #onBroken(replaced: boolean): void {
    const { kind, logger } = this.#options;
    this.#link = undefined;
    if (replaced) this.#ended ??= `another daemon took over ${kind.title}`;
    if (this.#ended !== undefined) return;
    this.#once(() => this.#recover()).catch((error: unknown) =>
      logger.error({ reason: messageOf(error) }, `${kind.title} cannot be reached`),
    );
  }

  async #recover(): Promise<OwnerLink | undefined> {
    const link = await this.#connect();
    if (link !== undefined) return link;
    const { onDead, logger, kind } = this.#options;
    if (onDead !== undefined) {
      await onDead();
      return undefined;
    }
    logger.warn(`${kind.title} died; starting it again, its instances go on`);
    return await this.#relaunch();
  }

  /** Starts an owner again, several times if necessary: the cause that ended one owner may end the next as well. */
  async #relaunch(): Promise<OwnerLink | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        await launchOwner(this.#options);
        const link = await this.#connect();
        if (link !== undefined || attempt === MOST_ATTEMPTS) return link;
      } catch (error) {
        if (attempt === MOST_ATTEMPTS || this.#ended !== undefined) throw error;
      }
    }
  }
}
