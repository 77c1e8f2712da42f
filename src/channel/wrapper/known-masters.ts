/**
 * The masters of the cluster that a node knows, kept in `data/cluster/`: their addresses, and the term of the latest
 * leader. Chooses the master to dial next, and refuses a leader from an older term. A master uses this list to find the
 * other masters.
 */
import { z } from 'zod';
import type { MasterPeer } from '../../leadership/leadership.js';
import { channelClosed, DroverError, messageOf } from '../../model/errors.js';
import { type HostPort, hostPort, parseHostPort } from '../../model/plain/host-port.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Services } from '../protocol/calls.js';
import { BOUNDS, type MessageOf, masterPeersSchema, TAKE_MASTERS } from '../protocol/messages.js';
import type { SecretFile } from '../trust/authority.js';

const keptSchema = z.object({
  /** The term of the latest leader; null: the term is not known. */
  epoch: z.int().min(0).nullable(),
  masters: masterPeersSchema,
});
type Kept = z.output<typeof keptSchema>;

interface KnownMastersOptions {
  /** The address of a master in `config.json`. It is asked first, and kept as long as the node lives. */
  readonly contact: HostPort;
  readonly file: SecretFile;
  /** True: a leader with an older term is accepted, such as after the store was restored or moved. */
  readonly older?: { readonly isAccepted: boolean };
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

export class KnownMasters {
  readonly #options: KnownMastersOptions;
  #kept: Kept = { epoch: null, masters: [] };
  /** The `host:port` of all masters, in the order in which they are dialled. */
  #order: string[];
  #writing: Promise<void> = Promise.resolve();
  /** True after a write that failed: the next news are written although nothing is new. */
  #isUnkept = false;

  constructor(options: KnownMastersOptions) {
    this.#options = options;
    this.#order = [hostPort(options.contact.host, options.contact.port)];
  }

  /**
   * Reads the file. A damaged file counts as missing, because leaders tell everything again. Throws
   * DRV_NODE_ROOT_UNUSABLE.
   */
  async open(): Promise<void> {
    const { file, logger } = this.#options;
    const text = await file.read();
    if (text === undefined) return;
    try {
      this.#kept = keptSchema.parse(JSON.parse(text));
      this.#arrange();
    } catch {
      logger.warn(`${file.name} is damaged: this node asks the master that config.json names`);
    }
  }

  /** The masters that are up, as this node was told, followed by former masters. */
  get peers(): readonly MasterPeer[] {
    return this.#kept.masters;
  }

  /** The addresses of masters, the likeliest leader first. Never empty. */
  candidates(): readonly HostPort[] {
    return this.#order.map((text) => parseHostPort(text) ?? this.#options.contact);
  }

  /**
   * Called when the master at `at` does not answer, or is no master any more. Moves its address to the end of the
   * order.
   */
  failed(at: HostPort): void {
    const text = hostPort(at.host, at.port);
    if (this.#order.includes(text)) this.#order = [...this.#order.filter((other) => other !== text), text];
  }

  /**
   * Called when a master that does not lead has named the leader; null: no master leads now. The named leader is asked
   * next. The master that answered goes to the end of the order, because its answer may be out of date.
   */
  pointed({ leader, masters }: Pick<MessageOf<'refused'>, 'leader' | 'masters'>): void {
    if (masters !== undefined) this.learn(masters);
    this.fruitless();
    if (leader != null) this.#first(leader.clusterAddress);
  }

  /**
   * Called when the master that was asked last cannot lead: its store is older than this node's copy, or it sent no
   * snapshot. Moves its address to the end of the order.
   */
  fruitless(): void {
    const [asked, ...others] = this.#order;
    if (asked !== undefined) this.#order = [...others, asked];
  }

  /**
   * Takes the term and the masters that a leader names. When the term is older than a known one, returns the reason of
   * the refusal and moves that master to the end of the order.
   */
  welcomed({ epoch: said, master, masters }: MessageOf<'welcome'>): string | undefined {
    const { older } = this.#options;
    const epoch = said ?? null;
    const known = this.#kept.epoch;
    if (epoch !== null && known !== null && epoch < known && older?.isAccepted !== true) {
      const former = this.#kept.masters.find(({ nodeId }) => nodeId === master.nodeId);
      const at = former && parseHostPort(former.clusterAddress);
      this.failed(at ?? { host: master.address, port: master.port });
      return `master ${master.nodeId} led in term ${epoch}, and this node has seen term ${known}: it is not the leader any more`;
    }
    this.#keep({ epoch, masters: masters === undefined ? [] : this.#withFormer(masters) });
    const own = masters?.find(({ nodeId }) => nodeId === master.nodeId);
    if (own !== undefined) this.#first(own.clusterAddress);
    return undefined;
  }

  /** Takes a new list of the masters that are up. An empty list changes nothing. */
  learn(masters: readonly MasterPeer[]): void {
    if (masters.length > 0) this.#keep({ epoch: this.#kept.epoch, masters: this.#withFormer(masters) });
  }

  /** Resolves when the newest list is on disk, or its write has failed. */
  written(): Promise<void> {
    return this.#writing;
  }

  /**
   * The masters that are up, followed by former masters: a master that is away for a moment may later be the only one
   * up. The oldest former masters are dropped.
   */
  #withFormer(masters: readonly MasterPeer[]): MasterPeer[] {
    const isKnown = (former: MasterPeer): boolean =>
      masters.some(
        ({ nodeId, clusterAddress }) => nodeId === former.nodeId || clusterAddress === former.clusterAddress,
      );
    return [...masters, ...this.#kept.masters.filter((former) => !isKnown(former))].slice(0, BOUNDS.masters);
  }

  #first(address: string): void {
    if (parseHostPort(address) === undefined) return;
    this.#order = [address, ...this.#order.filter((other) => other !== address)];
  }

  /**
   * Orders the addresses. The address in `config.json` is kept beside them, because the masters may know that master
   * under another name.
   */
  #arrange(): void {
    const all = new Set([
      ...this.#kept.masters.map(({ clusterAddress }) => clusterAddress),
      hostPort(this.#options.contact.host, this.#options.contact.port),
    ]);
    const stayed = this.#order.filter((text) => all.has(text));
    this.#order = [...new Set([...stayed, ...all])];
  }

  #keep(kept: Kept): void {
    if (JSON.stringify(kept) === JSON.stringify(this.#kept) && !this.#isUnkept) return;
    this.#kept = kept;
    this.#arrange();
    const { file, logger } = this.#options;
    this.#writing = this.#writing
      .then(() => file.write(JSON.stringify(this.#kept)))
      .then(() => {
        this.#isUnkept = false;
      })
      .catch((error: unknown) => {
        if (!this.#isUnkept)
          logger.warn(`what is known of the masters was not kept: ${messageOf(error)}; trying again`);
        this.#isUnkept = true;
      });
  }
}

/** The call by which the leader tells a node that the list of masters has changed. */
export function mastersServices(known: Pick<KnownMasters, 'learn'>): Services {
  return {
    [TAKE_MASTERS]: async (parameters) => {
      known.learn(masterPeersSchema.parse(parameters));
      return {};
    },
  };
}

/**
 * Asks the masters in turn until one of them answers; a refusal is an answer. After DRV_CHANNEL_CLOSED the next master
 * is asked; any other error ends the search. `isOnly`: there is no other master to ask. Throws the error of the last
 * master.
 */
export async function askMasters<T>(
  masters: Pick<KnownMasters, 'candidates' | 'failed'>,
  signal: AbortSignal,
  question: (at: HostPort, isOnly: boolean) => Promise<T>,
): Promise<T> {
  const candidates = masters.candidates();
  for (const [index, at] of candidates.entries())
    try {
      return await question(at, candidates.length === 1);
    } catch (error) {
      signal.throwIfAborted();
      masters.failed(at);
      if (index === candidates.length - 1 || !DroverError.is(error, 'DRV_CHANNEL_CLOSED')) throw error;
    }
  throw channelClosed('no master is known');
}
