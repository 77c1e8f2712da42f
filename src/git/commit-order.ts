/**
 * Tells for several masters, each with a clone, whether a file here is of a later commit than the content in force. It
 * asks git for hashes and names only.
 */
import { messageOf } from '../model/errors.js';
import type { SideOrder } from '../views/view.js';
import { isAncestor } from './git-ancestry.js';
import { git } from './git-program.js';
import type { NewestCommit } from './newest-commit.js';

/** The answers of git at one commit of the work tree. */
interface Known {
  readonly head: string;
  /** The commit and all before it. */
  readonly ancestors: ReadonlySet<string>;
  /** The last commit that changed each file and each directory, deleted ones too. */
  readonly changes: ReadonlyMap<string, Change>;
  /** The order of commits that are not among the ancestors. */
  readonly others: Map<string, SideOrder>;
}

interface Change {
  readonly commit: string;
  readonly isRemoval: boolean;
}

export class CommitOrder {
  readonly #directory: string;
  readonly #newest: NewestCommit;
  readonly #onFailure: (reason: string) => void;
  #known: Known | undefined;
  /** The commit that this clone has told the other masters. */
  #told: string | undefined;
  /** Commits in force that are not among the ancestors, and were not looked up yet. */
  readonly #asked = new Set<string>();

  constructor(directory: string, newest: NewestCommit, onFailure: (reason: string) => void) {
    this.#directory = directory;
    this.#newest = newest;
    this.#onFailure = onFailure;
  }

  /** The commit that the work tree is at; undefined: git does not say, or lacks the commits before. Never throws. */
  async head(): Promise<string | undefined> {
    const said = await git(this.#directory, 'rev-parse', 'HEAD', '--is-shallow-repository').catch(() => '');
    const [head, isShallow] = said.trim().split('\n');
    return isShallow === 'false' ? head : undefined;
  }

  /** True when this is the commit that is known. */
  isAt(head: string | undefined): boolean {
    return head === this.#known?.head;
  }

  /** Learns what git says at this commit; undefined: nothing is known. Never throws. */
  async learn(head: string | undefined): Promise<void> {
    if (this.isAt(head)) return;
    try {
      this.#known = head === undefined ? undefined : await this.#learned(head);
    } catch (error) {
      this.#known = undefined;
      this.#onFailure(messageOf(error));
    }
  }

  /** The last commit that changed the file. Undefined: none, or not known. */
  lastChange(file: string): string | undefined {
    return this.#known?.changes.get(file)?.commit;
  }

  /**
   * The order of the file here, as its commit has it, and a content that `commit` brought. `isHere` false: the file is
   * gone, which is `newer` only where a later commit removed it.
   */
  of(file: string, commit: string, isHere: boolean): SideOrder {
    const known = this.#known;
    const last = known?.changes.get(file);
    if (known === undefined || last?.commit === commit) return 'unknown';
    if (known.ancestors.has(commit)) return last?.isRemoval === !isHere ? 'newer' : 'unknown';
    return this.#orderBeside(known, commit);
  }

  /** The order of a file here, as its commit has it, of which the state has nothing. */
  ofNew(): SideOrder {
    const newest = this.#newest.get();
    if (newest === undefined || this.#known?.ancestors.has(newest) !== false) return 'unknown';
    return this.#orderBeside(this.#known, newest);
  }

  /** The order of the work tree and a commit that is not among its ancestors. */
  #orderBeside(known: Known, commit: string): SideOrder {
    const order = known.others.get(commit);
    if (order === undefined) this.#asked.add(commit);
    // Change nothing until git has answered.
    return order ?? 'behind';
  }

  /**
   * Looks up the commits that `of` was asked about and did not know, and tells the other masters a commit that is newer
   * than theirs. True: `of` may answer something else now.
   */
  async lookUp(): Promise<boolean> {
    const known = this.#known;
    const newest = this.#newest.get();
    const isOther = newest !== undefined && known?.ancestors.has(newest) === false;
    if (isOther && !known?.others.has(newest)) this.#asked.add(newest);
    const asked = [...this.#asked];
    this.#asked.clear();
    if (known === undefined) return false;
    for (const commit of asked) {
      // Unknown: the commit was not fetched yet.
      const isOlder = await isAncestor(this.#directory, known.head, commit);
      known.others.set(commit, isOlder === 'no' ? 'unknown' : 'behind');
    }
    // Where two clones have parted, the last one that moved counts.
    if (!isOther || known.others.get(newest) === 'unknown') await this.#tell(known.head, newest);
    return asked.length > 0;
  }

  async #tell(head: string, newest: string | undefined): Promise<void> {
    if (this.#told === head) return;
    this.#told = head;
    if (newest === head) return;
    await this.#newest.set(head).catch(() => {
      // The next round tries again: nobody may lead now, or another clone was faster.
      this.#told = undefined;
    });
  }

  async #learned(head: string): Promise<Known> {
    const before = this.#known;
    const list = await git(this.#directory, 'rev-list', head);
    const ancestors = new Set(list.trim().split('\n'));
    const isLater = before !== undefined && ancestors.has(before.head);
    const range = isLater ? `${before.head}..${head}` : head;
    // Name the files of merges, too, where a merge differs from all its parents, and directories as wholes.
    const words = '-c core.quotePath=false log -c -t --topo-order --no-renames --relative --name-status';
    const log = await git(this.#directory, ...words.split(' '), '--format=%x01%H', range, '--', '.');
    const changes = new Map<string, Change>();
    for (const part of log.split('\x01')) {
      const [commit = '', ...lines] = part.split('\n').filter(Boolean);
      for (const line of lines) {
        const [status = '', file = ''] = line.split('\t');
        if (!changes.has(file)) changes.set(file, { commit, isRemoval: status.startsWith('D') });
      }
    }
    if (isLater)
      for (const [file, change] of before.changes) if (!changes.has(file)) changes.set(file, change);
    return { head, ancestors, changes, others: new Map() };
  }
}
