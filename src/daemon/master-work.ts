/** What a node does while its master leads, from the moment it leads until nothing of the term is under way any more. */
import type { TermWork } from '../leadership/candidate.js';
import type { Term } from '../leadership/leadership.js';
import type { Master } from '../master.js';
import { DroverError } from '../model/errors.js';

export interface MasterWorkOptions {
  readonly master: Master;
  /** Begins to follow the directories. Resolves when the records agree with them. Called again after a failure. */
  readonly startFiles: () => Promise<void>;
  /** Makes the first key of the API where there is none. */
  readonly ensureAdminKey: () => Promise<unknown>;
  /** Lets the other nodes in. Repeatable. */
  readonly openDoor: () => Promise<void>;
  /** Resolves when the writes of clients that have begun are answered, or soon. */
  readonly untilAnswered: () => Promise<void>;
}

export class MasterWork implements TermWork {
  readonly #options: MasterWorkOptions;
  readonly #nodeIsUp: Promise<void>;
  #tellNodeIsUp: () => void = () => undefined;
  #starting: Promise<void> | undefined;
  #keyMade: Promise<unknown> | undefined;
  #isReady = false;

  constructor(options: MasterWorkOptions) {
    this.#options = options;
    this.#nodeIsUp = new Promise((resolve) => {
      this.#tellNodeIsUp = resolve;
    });
  }

  /** Whether this master leads, and answers all that is asked of a leader. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Called once: the wrapper of this node runs. A first term waits for it, to know what runs here. */
  nodeIsUp(): void {
    this.#tellNodeIsUp();
  }

  /**
   * Called when this master leads, or another one does: somebody writes what the directories bring. Repeatable, also after
   * a failure.
   */
  startFiles(): Promise<void> {
    this.#starting ??= this.#options.startFiles().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  /** Called before the API answers where this master leads already, and in each term. Repeatable, also after a failure. */
  ensureAdminKey(): Promise<unknown> {
    this.#keyMade ??= this.#options.ensureAdminKey().catch((error: unknown) => {
      this.#keyMade = undefined;
      throw error;
    });
    return this.#keyMade;
  }

  async begin(term: Term): Promise<void> {
    this.#options.master.beginTerm(term);
    // Clients wait: what does not need the other goes on beside it.
    const ends = await Promise.allSettled([this.ensureAdminKey(), this.#startAll(term)]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    // Ready only now. Before, a client would read of processes that may be gone, and find no node for new instances.
    this.#isReady = !term.signal.aborted;
  }

  async #startAll(term: Term): Promise<void> {
    const { master, openDoor } = this.#options;
    await openDoor();
    await whileIn(term, this.startFiles());
    await whileIn(term, this.#nodeIsUp);
    await master.startControllers();
  }

  finish(): Promise<void> {
    return this.#options.untilAnswered();
  }

  async end(): Promise<void> {
    this.#isReady = false;
    await this.#options.master.endTerm();
  }
}

/** Throws DRV_NOT_LEADER when the term ends first. */
async function whileIn({ signal }: Term, work: Promise<void>): Promise<void> {
  const ended = new Promise<never>((_resolve, reject) => {
    const end = (): void => reject(new DroverError('DRV_NOT_LEADER', 'this master does not lead any more'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  await Promise.race([work, ended]);
}
