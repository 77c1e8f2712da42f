/**
 * Builds the parts that a master needs when others share its store: the desk for their questions, its directories as
 * views of the state, and the audit trails of all. These parts run on every master, leading or not.
 */
import { join } from 'node:path';
import { z } from 'zod';
import type { OnFileFault } from '../../controllers/master/configurations/faults.js';
import { ConfigurationFollower } from '../../controllers/master/configurations/follower.js';
import { Bases } from '../../controllers/master/directories/bases.js';
import { DirectoryEngine } from '../../controllers/master/directories/reconciler.js';
import { type AuditOfMasters, auditOfMasters } from '../channel/masters/audit-of-masters.js';
import { FilesOfMasters } from '../channel/masters/files-of-masters.js';
import { type DeskDial, MasterCalls } from '../channel/masters/master-calls.js';
import { MasterDesk } from '../channel/masters/master-desk.js';
import { openRecordDesk } from '../channel/masters/record-desk.js';
import type { KnownMasters } from '../channel/wrapper/known-masters.js';
import { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import { LocalFiles } from '../configuration-files/local-files.js';
import { decodeEdits, encodeEdits, transactionOf } from '../configuration-files/record-edits.js';
import { DirectorySource } from '../configuration-files/source.js';
import { cloneOperations, decodeCloneEdits, newestCommitOf } from '../git/newest-commit.js';
import type { AskingLeadership } from '../leadership/candidate.js';
import { LeaderSearch } from '../leadership/leader-search.js';
import type { MasterPeer } from '../leadership/leadership.js';
import { type Part, RunningParts } from '../loop/lifecycle.js';
import type { AuditTrail } from '../model/audit.js';
import type { ConfigurationWrites } from '../model/plain/configuration-writes.js';
import type { TemplateRecord } from '../model/template.js';
import type { RootPaths } from '../node/root.js';
import type { MasterState } from '../state/master-state.js';
import { RECORD_SCHEMAS } from '../state/record-schemas.js';
import { PREFIX } from '../store/keys.js';
import { Mirror } from '../store/mirror.js';
import type { Store } from '../store/store.js';
import type { MasterTemplates } from '../templates/master-templates.js';
import { decodeTemplateEdits, templateOperations } from '../templates/view/template-edits.js';
import { type HeldTemplate, type TemplatePeers, TemplateView } from '../templates/view/template-view.js';
import type { Shared } from './assembly.js';

const TREE = 'template-tree';
const HOLD = 'hold-template';
/** How long another master may take to fetch a large tree, while a write through the API waits. */
const HOLD_MS = 30_000;
const LEADER = 'leader';
const treeSchema = z.object({ digest: z.string() });
const leaderSchema = z
  .object({ nodeId: z.string(), clusterAddress: z.string(), epoch: z.int().min(1), since: z.number() })
  .nullable();
const heldSchema = z.object({ name: z.string(), digest: z.string(), revision: z.int() });

export interface SeveralMastersOptions {
  readonly nodeId: string;
  readonly paths: Pick<RootPaths, 'configurations' | 'templates' | 'data'>;
  readonly store: Store;
  /** The mirrors of the state. They are loaded before these parts start, and followed until the parts have stopped. */
  /** Where changes through the API go; default: as git decides. */
  readonly writes?: ConfigurationWrites | undefined;
  readonly state: Pick<
    MasterState,
    'clones' | 'configurations' | 'histories' | 'overrides' | 'rollouts' | 'timetables' | 'nodes'
  >;
  readonly leadership: AskingLeadership;
  /** The other masters, remembered across restarts. */
  readonly known: KnownMasters;
  /** Opens a connection to the desk of another master. */
  readonly dial: DeskDial;
  readonly templates: MasterTemplates;
  readonly audit: Pick<AuditTrail, 'last'>;
  readonly onFault: OnFileFault;
  readonly shared: Pick<Shared, 'clock' | 'random' | 'logger' | 'metrics'>;
}

export class SeveralMasters implements Part {
  readonly desk: MasterDesk;
  readonly files: ConfigurationFiles;
  readonly audit: AuditOfMasters;
  readonly templates: TemplateView;
  /**
   * Finds the leader. The search starts before the other parts, once the state is open: this master may lose etcd
   * before any master leads.
   */
  readonly search: LeaderSearch;
  readonly #options: SeveralMastersOptions;
  readonly #templateRecords: Mirror<TemplateRecord>;
  readonly #follower: ConfigurationFollower;
  readonly #others: FilesOfMasters;
  readonly #calls: MasterCalls;
  readonly #stopping = new AbortController();
  readonly #running = new RunningParts();
  /** The starts that have not succeeded yet, in order. */
  readonly #starts: (() => Promise<void>)[];

  constructor(options: SeveralMastersOptions) {
    const { nodeId, paths, writes, store, state, leadership, dial, audit, shared } = options;
    const { clock, logger } = shared;
    this.#options = options;
    this.desk = new MasterDesk();
    this.#calls = new MasterCalls(dial, clock);
    this.#templateRecords = new Mirror({
      store,
      prefix: PREFIX.templates,
      decode: (value) => RECORD_SCHEMAS.templates.parse(value),
      onSetAside: (id, { problem }) =>
        logger.error(`the record of template ${id} cannot be read (${problem}): it is kept as it is`),
      onListenerError: (error) => logger.error({ err: error }, 'a listener of templates failed'),
    });
    const { desk } = this;
    const deskOptions = {
      nodeId,
      store,
      leadership,
      calls: this.#calls,
      desk,
      signal: this.#stopping.signal,
      logger,
    };
    const { configurations, histories, overrides, rollouts, timetables } = state;
    const edited = { store, clock, configurations, histories, overrides, rollouts, timetables, logger };
    const door = openRecordDesk(
      {
        name: 'configurations',
        encode: encodeEdits,
        decode: decodeEdits,
        operations: (edits, from) => transactionOf(edits, from, edited),
      },
      deskOptions,
    );
    const clones = openRecordDesk(
      { name: 'clones', encode: (edits) => edits, decode: decodeCloneEdits, operations: cloneOperations },
      deskOptions,
    );
    const basesOf = (name: string): Bases =>
      new Bases({ path: join(paths.data, 'views', `${name}.json`), store, logger });
    const source = new DirectorySource({
      nodeId,
      directory: paths.configurations,
      writes,
      newest: newestCommitOf('configurations', state.clones, clones),
      logger,
      clock,
    });
    const follower = new ConfigurationFollower({
      ...shared,
      source,
      localFiles: new LocalFiles(source),
      configurations,
      overrides,
      timetables,
      store,
      door,
      bases: basesOf('configurations'),
      onFaults: () => this.#others.changed(),
      onFault: options.onFault,
    });
    this.#follower = follower;
    const others = new FilesOfMasters({
      ...deskOptions,
      faults: () => [...follower.faults(), ...this.templates.faults()],
      reload: (asked) => this.files.reloadHere(asked),
      clock,
    });
    this.#others = others;
    this.files = new ConfigurationFiles({
      source,
      follower,
      editor: follower,
      others: {
        faults: () => [...this.templates.faults(), ...others.faults()],
        reload: (asked) => others.reload(asked),
      },
      configurations,
      overrides,
      timetables,
      logger,
      clock,
    });
    const { library, local, git } = options.templates;
    this.templates = new TemplateView({
      store,
      clock,
      logger,
      nodeId,
      path: paths.templates,
      library,
      git,
      directory: local.directory,
      records: this.#templateRecords,
      newest: newestCommitOf('templates', state.clones, clones),
      door: openRecordDesk(
        {
          name: 'templates',
          encode: (edits) => edits,
          decode: decodeTemplateEdits,
          operations: templateOperations,
        },
        deskOptions,
      ),
      peers: this.#peers(),
      onConflicts: () => others.changed(),
      followerOf: (tree, onRound) =>
        new DirectoryEngine({ ...shared, name: 'templates', tree, bases: basesOf('templates'), onRound }),
    });
    this.audit = auditOfMasters({
      nodeId,
      audit,
      leadership,
      known: () => this.#knownMasters(),
      calls: this.#calls,
      desk,
    });
    this.search = new LeaderSearch({
      leadership,
      nodeId,
      known: options.known,
      ask: async (peer, signal) =>
        leaderSchema.safeParse(await this.#calls.ask(peer, { name: LEADER, content: {} }, signal)).data ??
        null,
      clock,
    });
    desk.on(LEADER, async () => leadership.leader());
    this.#answerTemplates();
    this.#starts = [...this.#inOrder()];
  }

  /**
   * Starts the parts; called after the templates have started. When a part fails, such as through a fault of etcd,
   * the next call goes on with that part.
   */
  async start(): Promise<void> {
    for (let next = this.#starts[0]; next !== undefined; next = this.#starts[0]) {
      await next();
      this.#starts.shift();
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#others.stop();
    this.desk.stop();
    await this.#running.stop();
  }

  *#inOrder(): Generator<() => Promise<void>> {
    const { leadership } = this.#options;
    const running = this.#running;
    for (const part of [this.#templateRecords, this.files, this.templates]) yield () => running.start(part);
    yield async () =>
      running.onStop(
        leadership.onChange(() => {
          this.#follower.wake();
          this.#others.changed();
          this.templates.wake();
        }),
      );
  }

  *#knownMasters(): Generator<string> {
    for (const [id, { value }] of this.#options.state.nodes.entries()) if (value.master) yield id;
  }

  #peers(): TemplatePeers {
    const { leadership, nodeId } = this.#options;
    const list = (): MasterPeer[] => leadership.masters().filter((peer) => peer.nodeId !== nodeId);
    return {
      list,
      isAlone: () => list().length === 0 && ![...this.#knownMasters()].some((id) => id !== nodeId),
      bundle: (peer, digest, signal) => this.#calls.bytes(peer, { name: TREE, content: { digest } }, signal),
      hold: async (peer, wanted: HeldTemplate, signal) => {
        await this.#calls.ask(peer, { name: HOLD, content: wanted, limitMs: HOLD_MS }, signal);
      },
    };
  }

  #answerTemplates(): void {
    const { library } = this.#options.templates;
    this.desk.on(TREE, (question) => library.openBundle(treeSchema.parse(question).digest));
    this.desk.on(HOLD, (question) => this.templates.hold(heldSchema.parse(question)));
  }
}
