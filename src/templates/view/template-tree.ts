/** The templates of a master and their records, as the two sides of a view (`src/views/view.ts`). */
import { mkdir, stat } from 'node:fs/promises';
import { Conflict } from '../../loop/reconciler.js';
import { DroverError, messageOf, templateCorrupt, templateUnknown } from '../../model/errors.js';
import type { TemplateRecord } from '../../model/template.js';
import type { MirrorReader } from '../../store/mirror.js';
import type { Store } from '../../store/store.js';
import { inSteps } from '../../store/transaction.js';
import { RecordSide } from '../../views/record-side.js';
import type { ChangeThere, Observation, RecordDoor, RemovalThere, ViewTree } from '../../views/view.js';
import type { GitTemplates } from '../library/git-templates.js';
import type { TemplateLibrary } from '../library/library.js';
import type { TemplateDirectory } from '../library/template-directory.js';
import { unpackTree } from '../transfer/bundle.js';
import { digestTree } from '../tree/digest.js';
import { removeTree } from '../tree/remove-tree.js';
import { syncTree } from '../tree/sync-tree.js';
import { TREE_LIMITS, walkTree } from '../tree/tree.js';
import type { TemplateEdit } from './template-edits.js';

export interface TemplateTreeOptions {
  readonly nodeId: string;
  /** Absolute path of `templates/`. */
  readonly path: string;
  readonly library: Pick<TemplateLibrary, 'groups' | 'digest' | 'look'>;
  /** The templates that git owns. */
  readonly git: GitTemplates;
  readonly directory: Pick<TemplateDirectory, 'replace' | 'remove'>;
  readonly records: MirrorReader<TemplateRecord>;
  readonly store: Store;
  readonly door: RecordDoor<TemplateEdit>;
  /** Answers with the tar streams of this tree that other masters offer, one after the other. */
  readonly fetch: (record: TemplateRecord) => Iterable<AsyncIterable<Buffer>>;
  readonly signal: AbortSignal;
}

export class TemplateTree implements ViewTree {
  readonly #options: TemplateTreeOptions;
  readonly #there: RecordSide<TemplateRecord, TemplateEdit>;
  /** The digests by `<group>/<name>`; null: the template cannot be read now, or is no tree that a template can have. */
  #digests = new Map<string, string | null>();
  #directoryId: string | undefined;

  constructor(options: TemplateTreeOptions) {
    this.#options = options;
    const { records, store, door } = options;
    const hashOf = ({ digest }: TemplateRecord): string => digest;
    this.#there = new RecordSide({ records, hashOf, store, door, inTransactions: inSteps });
  }

  /** Reads the digests of the directory. Trees that have not changed are not read again. */
  async look(): Promise<void> {
    const { library, git, records } = this.#options;
    const directory = await this.#identify();
    const { order } = git.origins;
    const head = await order?.head();
    // A digest that the library has may be of the files before git moved.
    const how = order?.isAt(head) === false ? 'look' : 'digest';
    const digests = new Map<string, string | null>();
    for (const [group, names] of library.groups())
      for (const name of names) {
        const key = `${group}/${name}`;
        const digest = await library[how](group, name).then(
          (found) => found ?? undefined,
          () => null,
        );
        if (digest !== undefined) digests.set(key, digest);
      }
    const others = [...records.entries()].map(([name]) => name);
    await git.look(digests, others, head);
    // Another directory took the place of the one that was read: look again, so that its digests are not mistaken for
    // the new one's.
    if ((await this.#identify()) !== directory) return this.look();
    this.#digests = digests;
    this.#directoryId = directory;
  }

  async #identify(): Promise<string> {
    const { ino, birthtimeMs } = await stat(this.#options.path);
    return `${ino}-${Math.round(birthtimeMs)}`;
  }

  observe(): Observation | undefined {
    const { records, nodeId, git } = this.#options;
    const directory = this.#directoryId;
    if (directory === undefined || !records.isReady) return undefined;
    const here = new Map<string, string>();
    const undecided = new Set(records.setAside.keys());
    for (const [name, digest] of this.#digests) {
      if (digest !== null) here.set(name, digest);
      if (digest === null || git.origins.isDoubted(name)) undecided.add(name);
    }
    return {
      here,
      there: this.#there,
      undecided,
      standing: { directory, revision: records.revision },
      // A clone that had the template says by its removal that it is gone, whichever master brought it.
      brought: (name) => git.owns(name) || records.get(name)?.value.sourceNode === nodeId,
      order: (name) => git.orderOf(name, here.get(name), records.get(name)?.value),
    };
  }

  async writeHere(name: string, hash: string, present: string | undefined): Promise<void> {
    const { directory } = this.#options;
    const { value: record } = this.#there.recordWith(name, hash);
    const [group, template] = partsOf(name);
    await directory.replace(group, template, async (next) => {
      await this.#requireHere(name, present);
      await this.#fill(next, record);
      await this.#requireHere(name, present);
    });
    this.#digests.set(name, hash);
  }

  async removeHere(name: string, present: string): Promise<void> {
    const { directory } = this.#options;
    const [group, template] = partsOf(name);
    await directory.remove(group, template, async () => {
      await this.#requireHere(name, present);
      return true;
    });
    this.#digests.delete(name);
  }

  async writeThere(changes: readonly ChangeThere[]): Promise<void> {
    const { origins } = this.#options.git;
    const edits = changes.map(({ name, hash: digest, expected }) => ({
      do: 'put' as const,
      name,
      digest,
      commit: origins.ofFile(name).changedBy,
      expectedRevision: this.#there.revisionOf(name, expected),
    }));
    await this.#there.write(edits);
    for (const { name, commit } of edits) origins.note(name, commit);
  }

  async removeThere(removals: readonly RemovalThere[]): Promise<void> {
    await this.#there.remove(removals);
  }

  /** Fills `next` with the tree of the first master that has it. Throws the last error. */
  async #fill(next: string, record: TemplateRecord): Promise<void> {
    const { fetch, signal } = this.#options;
    const short = record.digest.slice(0, 12);
    let failure: unknown = noMasterHas(record.digest);
    for (const stream of fetch(record))
      try {
        await mkdir(next);
        await unpackTree(stream, next, TREE_LIMITS, signal);
        const place = { root: next, label: `template tree ${short}` };
        const entries = await walkTree(place, signal);
        if ((await digestTree(place, entries, signal)) !== record.digest)
          throw templateCorrupt(`what came is not the tree ${short}`);
        await syncTree(next, entries, signal);
        return;
      } catch (error) {
        failure = error;
        await removeTree(next);
      }
    throw failure instanceof DroverError
      ? failure
      : new DroverError('DRV_TEMPLATE_PENDING', messageOf(failure), { cause: failure });
  }

  async #requireHere(name: string, present: string | undefined): Promise<void> {
    const now = await this.#options.library.look(...partsOf(name));
    if ((now ?? undefined) !== present) throw new Conflict(`${name} has another content here now`);
  }
}

export function noMasterHas(digest: string): DroverError {
  return templateUnknown(`no master that is up has the tree ${digest.slice(0, 12)}`);
}

function partsOf(name: string): [group: string, template: string] {
  const [group = '', template = ''] = name.split('/');
  return [group, template];
}
