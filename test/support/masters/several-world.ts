/**
 * Masters that share a store in memory, each with its directories, and connections between them that a test can cut.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { KnownMasters } from '../../../src/channel/wrapper/known-masters.js';
import { SeveralMasters } from '../../../src/daemon/several-masters.js';
import type { AskingLeadership } from '../../../src/leadership/candidate.js';
import type { Leader, MasterPeer } from '../../../src/leadership/leadership.js';
import { RunningParts } from '../../../src/loop/lifecycle.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import type { AuditEntry } from '../../../src/model/audit.js';
import { DroverError } from '../../../src/model/errors.js';
import { MasterState } from '../../../src/state/master-state.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { MasterTemplates } from '../../../src/templates/master-templates.js';
import { MemoryFile } from '../cluster/cluster-files.js';
import { MemoryStore } from '../store/memory-store.js';

export class SeveralWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-masters-'));
  readonly store = new MemoryStore();
  readonly masters = new Map<string, TestMaster>();
  /** The masters that are cut off from all others. */
  readonly cut = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #leader: string | null = null;

  async start(nodeId: string): Promise<TestMaster> {
    const master = new TestMaster(this, nodeId);
    this.masters.set(nodeId, master);
    await master.start();
    this.#leader ??= nodeId;
    this.changed();
    return master;
  }

  get leaderId(): string | null {
    return this.#leader;
  }

  elect(nodeId: string | null): void {
    this.#leader = nodeId;
    this.changed();
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  leadershipOf(nodeId: string): AskingLeadership {
    const peer = (id: string): MasterPeer => ({ nodeId: id, clusterAddress: `${id}:6000` });
    const leader = (): Leader | null =>
      this.#leader === null ? null : { ...peer(this.#leader), epoch: 1, since: 0 };
    return {
      leader,
      isLeader: () => this.#leader === nodeId,
      term: () => (this.#leader === nodeId ? { epoch: 1, signal: new AbortController().signal } : null),
      isInTouch: true,
      heard: () => undefined,
      masters: () => [...this.masters].filter(([, { isUp }]) => isUp).map(([id]) => peer(id)),
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  async close(): Promise<void> {
    for (const master of this.masters.values()) await master.stop();
    await this.store.close();
    await rm(this.root, { recursive: true, force: true });
  }
}

export class TestMaster {
  readonly log: string[] = [];
  readonly audit: AuditEntry[] = [];
  isUp = false;
  readonly #world: SeveralWorld;
  readonly #nodeId: string;
  readonly #running = new RunningParts();
  #parts: { readonly masters: SeveralMasters; readonly templates: MasterTemplates } | undefined;

  readonly #mastersFile = new MemoryFile('data/cluster/masters.json');

  constructor(world: SeveralWorld, nodeId: string) {
    this.#world = world;
    this.#nodeId = nodeId;
  }

  get masters(): SeveralMasters {
    if (this.#parts === undefined) throw new Error('not started');
    return this.#parts.masters;
  }

  get templates(): MasterTemplates {
    if (this.#parts === undefined) throw new Error('not started');
    return this.#parts.templates;
  }

  async start(): Promise<void> {
    const clock = new SystemClock();
    const logger = pino({ level: 'debug' }, { write: (line: string) => this.log.push(line) });
    const paths = this.#paths();
    for (const path of Object.values(paths)) await mkdir(path, { recursive: true });
    const shared = { clock, random: () => 0.5, metrics: new Metrics(), logger };
    const templates = new MasterTemplates({
      ...shared,
      paths,
      providers: { keys: () => [], get: () => undefined },
      maxUploadMB: 16,
      afterWrite: async (group, name) => this.masters.templates.spread(group, name),
      shared: () => this.#parts?.masters.templates,
      nodes: { connected: () => [], fetch: async function* () {} },
    });
    const state = new MasterState(this.#world.store, logger);
    const masters = new SeveralMasters({
      nodeId: this.#nodeId,
      paths,
      store: this.#world.store,
      state,
      leadership: this.#world.leadershipOf(this.#nodeId),
      known: new KnownMasters({
        contact: { host: this.#nodeId, port: 6000 },
        file: this.#mastersFile,
        logger,
      }),
      dial: (peer) => this.#dial(peer.nodeId),
      templates,
      audit: { last: (count) => this.audit.slice(-count) },
      onFault: () => undefined,
      shared,
    });
    this.#parts = { masters, templates };
    this.isUp = true;
    await this.#running.start(state);
    await this.#running.start(templates);
    await this.#running.start(masters);
  }

  async stop(): Promise<void> {
    this.isUp = false;
    await this.#running.stop();
    this.#world.changed();
  }

  async write(file: string, content: string): Promise<void> {
    const path = join(this.#root, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }

  pathOf(file: string): string {
    return join(this.#root, file);
  }

  read(file: string): Promise<string> {
    return readFile(this.pathOf(file), 'utf8');
  }

  /** Removes files in one turn, so that no look sees only some of them gone. */
  async remove(...files: readonly string[]): Promise<void> {
    for (const file of files) rmSync(join(this.#root, file), { recursive: true });
  }

  async files(directory: string): Promise<string[]> {
    const names = await readdir(join(this.#root, directory), { recursive: true });
    return names.filter((name) => !name.includes('.drover')).sort();
  }

  get #root(): string {
    return join(this.#world.root, this.#nodeId);
  }

  #paths() {
    const root = this.#root;
    const data = join(root, 'data');
    return {
      data,
      configurations: join(root, 'configurations'),
      templates: join(root, 'templates'),
      uploads: join(data, 'uploads'),
      downloads: join(data, 'downloads'),
      storages: join(data, 'storages'),
    };
  }

  async #dial(nodeId: string): Promise<Transport> {
    const peer = this.#world.masters.get(nodeId);
    if (peer?.isUp !== true || [nodeId, this.#nodeId].some((id) => this.#world.cut.has(id)))
      throw new DroverError('DRV_CHANNEL_CLOSED', `master ${nodeId} cannot be reached`);
    const [here, there] = createInProcessPair();
    peer.masters.desk.take(there, this.#nodeId);
    return here;
  }
}
