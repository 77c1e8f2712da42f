/** The work of a node while its master leads, from the start of a term until all work of the term has ended. */
import type { TermWork } from '../leadership/candidate.js';
import type { Term } from '../leadership/leadership.js';
import { abortable } from '../loop/abortable.js';
import { remembered } from '../loop/remembered.js';
import type { Master } from '../master.js';
import { DroverError } from '../model/errors.js';

interface MasterWorkOptions {
  readonly master: Master;
  /**
   * Begins to follow the directories. Resolves when the records agree with the directories. Repeatable after a failure.
   */
  readonly startFiles: () => Promise<void>;
  /** Makes the first key of the API if the API has no key. */
  readonly ensureAdminKey: () => Promise<unknown>;
  /** Lets the other nodes in. Repeatable. */
  readonly openDoor: () => Promise<void>;
  /** Resolves when the writes that clients have begun are answered, or after a short limit. */
  readonly untilAnswered: () => Promise<void>;
}

export class MasterWork implements TermWork {
  readonly #options: MasterWorkOptions;
  readonly #nodeIsUp: Promise<void>;
  #tellNodeIsUp: () => void = () => undefined;
  #isReady = false;
  /**
   * Follows the directories. Called when any master leads, because the leader writes the content of the directories
   * into the records. Repeatable, also after a failure.
   */
  readonly startFiles: () => Promise<void>;
  /**
   * Called before the API answers when this master already leads, and in each term. Repeatable, also after a failure.
   */
  readonly ensureAdminKey: () => Promise<unknown>;

  constructor(options: MasterWorkOptions) {
    this.#options = options;
    this.startFiles = remembered(options.startFiles);
    this.ensureAdminKey = remembered(options.ensureAdminKey);
    this.#nodeIsUp = new Promise((resolve) => {
      this.#tellNodeIsUp = resolve;
    });
  }

  /** True while this master leads and can answer every question for a leader. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * Called once, when the wrapper of this node runs. The first term waits for this call, because it must know what runs
   * on this node.
   */
  nodeIsUp(): void {
    this.#tellNodeIsUp();
  }

  async begin(term: Term): Promise<void> {
    this.#options.master.beginTerm(term);
    // Do both at once, because clients wait.
    const ends = await Promise.allSettled([this.ensureAdminKey(), this.#startAll(term)]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    // Not ready before this point: clients would see processes that may be gone, and find no node for new instances.
    this.#isReady = !term.signal.aborted;
  }

  async #startAll(term: Term): Promise<void> {
    const { master, openDoor } = this.#options;
    await openDoor();
    await whileIn(term, this.startFiles());
    await whileIn(term, this.#nodeIsUp);
    await master.led().controllers.start();
  }

  finish(): Promise<void> {
    return this.#options.untilAnswered();
  }

  async end(): Promise<void> {
    this.#isReady = false;
    await this.#options.master.endTerm();
  }
}

/** Waits for `work`. Throws DRV_NOT_LEADER when the term ends first. */
async function whileIn({ signal }: Term, work: Promise<void>): Promise<void> {
  await abortable(work, signal).catch((error: unknown) => {
    throw signal.aborted ? new DroverError('DRV_NOT_LEADER', 'this master does not lead any more') : error;
  });
}
