/**
 * Gives the leader the faults in the configuration files of all masters. Each other master tells the leader its own
 * faults, and reads its files again when the leader asks.
 */
import { z } from 'zod';
import type { OtherFiles } from '../../configuration-files/configuration-files.js';
import type { Leadership } from '../../leadership/leadership.js';
import type { TimerHandle } from '../../loop/clock.js';
import { type ConfigurationFileError, configurationFileErrorSchema } from '../../model/configuration.js';
import { messageOf } from '../../model/errors.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { RecordDeskOptions } from './record-desk.js';

const FAULTS = 'configuration-faults';
const RELOAD = 'configuration-reload';
/** How long a change waits for further changes before it is told. */
const TELL_AFTER_MS = 300;
const AGAIN_AFTER_MS = 2000;
/** The limit for the faults that are told of one master; more faults would say no more. */
const MOST_FAULTS = 1000;
/** The limit for a reload: the other master writes what its files bring, one transaction after the other. */
const RELOAD_MS = 60_000;

const faultsSchema = z.array(configurationFileErrorSchema).max(MOST_FAULTS);
const reloadSchema = z.object({ isConfirmed: z.boolean() });

interface FilesOfMastersOptions
  extends Ambient,
    Pick<RecordDeskOptions, 'nodeId' | 'calls' | 'desk' | 'signal'> {
  readonly leadership: Pick<Leadership, 'leader' | 'isLeader' | 'masters'>;
  /** The faults in the files of this master. */
  readonly faults: () => readonly ConfigurationFileError[];
  /** Reads the files of this master again. */
  readonly reload: (isConfirmed: boolean) => Promise<void>;
}

export class FilesOfMasters implements OtherFiles {
  readonly #options: FilesOfMastersOptions;
  /** The faults that other masters have told, by node, while this master leads. */
  readonly #told = new Map<string, readonly ConfigurationFileError[]>();
  #timer: TimerHandle | undefined;
  /** The faults that were told last, and the leader that heard them. */
  #last: string | undefined;

  constructor(options: FilesOfMastersOptions) {
    this.#options = options;
    const { desk, reload } = options;
    desk.on(FAULTS, async (question, from) => {
      this.#told.set(
        from,
        faultsSchema.parse(question).map((fault) => ({ ...fault, node: from })),
      );
    });
    desk.on(RELOAD, (question) => reload(reloadSchema.parse(question).isConfirmed));
  }

  /** Called when the faults here, or the leader, may have changed. */
  changed(afterMs = TELL_AFTER_MS): void {
    const { leadership, clock, signal } = this.#options;
    if (!leadership.isLeader()) this.#told.clear();
    if (this.#timer !== undefined || signal.aborted) return;
    this.#timer = clock.setTimer(afterMs, () => {
      this.#timer = undefined;
      void this.#tell();
    });
  }

  /** Stops telling the leader. Idempotent. */
  stop(): void {
    this.#timer?.cancel();
  }

  faults(): readonly ConfigurationFileError[] {
    const up = new Set(this.#options.leadership.masters().map(({ nodeId }) => nodeId));
    return [...this.#told].flatMap(([nodeId, faults]) => (up.has(nodeId) ? faults : []));
  }

  async reload(isConfirmed: boolean): Promise<void> {
    const { nodeId, leadership, calls, signal, logger } = this.#options;
    const content = { isConfirmed };
    const others = leadership.masters().filter((peer) => peer.nodeId !== nodeId);
    await Promise.all(
      others.map((peer) =>
        calls.ask(peer, { name: RELOAD, content, limitMs: RELOAD_MS }, signal).catch((error: unknown) => {
          logger.warn(`the files of master ${peer.nodeId} were not read again: ${messageOf(error)}`);
        }),
      ),
    );
  }

  async #tell(): Promise<void> {
    const { nodeId, leadership, calls, faults, signal, logger } = this.#options;
    const leader = leadership.leader();
    if (leader === null || leader.nodeId === nodeId) return;
    const content = faults().slice(0, MOST_FAULTS);
    const text = JSON.stringify([leader.nodeId, leader.epoch, content]);
    if (text === this.#last) return;
    try {
      await calls.ask(leader, { name: FAULTS, content }, signal);
      this.#last = text;
    } catch (error) {
      logger.debug({ err: error }, `master ${leader.nodeId} was not told of broken files`);
      this.changed(AGAIN_AFTER_MS);
    }
  }
}
