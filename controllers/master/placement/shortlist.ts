/**
 * Answers one question: where one more instance of a revision fits. It keeps the nodes that pass in order of choice,
 * and looks again only at what changed since the last question.
 * A node with less free than before comes no earlier in the order, so it is looked at only when it would be chosen.
 * Only then a port is looked for, too. A node without a free port is parked until one may be free.
 */
import { Heap } from '../../../src/loop/heap.js';
import type { PlacementOrder } from '../../../src/model/configuration.js';
import type { NamedPort } from '../../../src/model/fields/ports.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { candidateOf, type FleetSources, type OldPorts, type Question, withPorts } from './candidates.js';
import {
  type Candidate,
  type Condition,
  checkConditions,
  firstFailed,
  type Needs,
  PORT,
  summarise,
} from './conditions.js';
import type { FleetChange, FleetChanges } from './fleet-changes.js';
import { type Entry, isBefore, newEntry, rankOf } from './shortlist-entry.js';

export interface ShortlistSources extends FleetSources {
  readonly changes: FleetChanges;
  /** Monotonic ms. */
  readonly now: () => number;
  /** True for a node that was known when this master started, and is expected back. */
  readonly isAwaited: (node: NodeRecord) => boolean;
}

/** Why no node fits, for the status and the metric. */
export interface Refusal {
  readonly message: string;
  /** Short codes of the conditions that nodes failed. */
  readonly conditions: readonly string[];
  /**
   * True when ports are believed to be busy. A busy port may come free without an event, so placement must
   * look again.
   */
  readonly hasBusyPorts: boolean;
}

/** The most changes per node that are looked at one by one. With more, look at all nodes instead. */
const MOST_CHANGES_PER_NODE = 2;

export class Shortlist {
  readonly #sources: ShortlistSources;
  readonly #question: Question;
  readonly #needs: Needs;
  readonly #order: PlacementOrder;
  readonly #entries = new Map<string, Entry>();
  /** The nodes that pass every condition, except the parked ones. */
  readonly #listed: Heap<Entry>;
  /** How many entries are outdated. */
  #outdated = 0;
  /** The nodes without a free port, by host address. */
  readonly #parked = new Map<string, Set<Entry>>();
  /** The time (monotonic ms) when the first busy port of a parked node may be free again. */
  #unparkAt = Number.POSITIVE_INFINITY;
  /** Ids of nodes that are expected back, and pass all other conditions. */
  readonly #awaited = new Set<string>();
  /** The refusals, by the home that binds a static instance and the port it lacks; '' without such a home. */
  readonly #refusals = new Map<string, Refusal>();
  #seen = -1;

  constructor(sources: ShortlistSources, question: Question) {
    this.#sources = sources;
    this.#question = question;
    this.#needs = { ...question, home: null };
    this.#order = question.configuration.placement ?? 'spread';
    this.#listed = new Heap<Entry>(isBefore);
  }

  /** The first node in the order of choice, with a port; undefined: no node fits. */
  best(): Candidate | undefined {
    this.#catchUp();
    for (let entry = this.#first(); entry !== undefined; entry = this.#first()) {
      const candidate = this.#withPorts(this.#candidateOf(entry));
      if (candidate.lacks === undefined) return candidate;
      this.#park(entry, candidate);
    }
    return undefined;
  }

  /** A node with a port that was found busy some seconds ago, after `best` has found none; undefined: none. */
  worthATry(): Candidate | undefined {
    for (const parked of this.#parked.values())
      for (const entry of parked) {
        const candidate = this.#withPorts(this.#candidateOf(entry), { ports: [], isRetried: true });
        if (candidate.lacks === undefined) return candidate;
      }
    return undefined;
  }

  /**
   * The node with ports, if possible `ports`, or with what it lacks; undefined: the node fails another condition.
   * `keeper`: the static instance that keeps these ports.
   */
  at(nodeId: string, ports: readonly NamedPort[], keeper?: string): Candidate | undefined {
    this.#catchUp();
    const entry = this.#entries.get(nodeId);
    if (entry?.isOutdated === true) this.#judge(entry);
    if (entry === undefined || (entry.failed !== undefined && entry.failed !== PORT)) return undefined;
    const old = keeper === undefined ? {} : { holder: keeper, isKept: true };
    return this.#withPorts(this.#candidateOf(entry), { ports, ...old });
  }

  /**
   * Why no node fits, after `best` or `at` has found none. `home`: the only node that the instance may have; null: any
   * node. `atHome`: what `at` has found there.
   */
  refusal(home: string | null, atHome?: Candidate): Refusal {
    const key = home === null ? '' : `${home} ${atHome?.lacks?.name}`;
    const refusal = this.#refusals.get(key) ?? this.#refuse(home, atHome);
    this.#refusals.set(key, refusal);
    return refusal;
  }

  /** Ids of nodes that are expected back, and pass all other conditions. */
  awaited(): ReadonlySet<string> {
    this.#catchUp();
    this.#updateAll();
    return this.#awaited;
  }

  /** How many more instances fit at most; counted up to `most`. */
  room(most: number): number {
    this.#catchUp();
    this.#updateAll();
    const { ledger, hostAddressOf, nodes } = this.#sources;
    const { configuration, ramMB, cpu, ports } = this.#question;
    const portsLeft = new Map<string, number>();
    let room = 0;
    for (const [nodeId, entry] of this.#entries) {
      if (room >= most) return most;
      const node = nodes.get(nodeId)?.value;
      if (!entry.isListed || node === undefined) continue;
      const { freeRamMB, freeCpu } = this.#candidateOf(entry);
      let here = Math.min(Math.floor(freeRamMB / ramMB), cpu === 0 ? most : Math.floor(freeCpu / cpu));
      const hostAddress = hostAddressOf(configuration, node);
      // The ports beside a port are not counted: fewer may fit.
      for (const need of ports) {
        if (need.sharedBy !== undefined) continue;
        const key = `${need.name} ${hostAddress}`;
        const left = portsLeft.get(key) ?? ledger.countFreePorts({ nodeId: '', hostAddress }, need, most);
        here = Math.min(
          here,
          left,
          ledger.countFreePorts({ nodeId, hostAddress }, need, Math.min(here, left)),
        );
        portsLeft.set(key, left - here);
      }
      room += here;
    }
    return Math.min(room, most);
  }

  #refuse(home: string | null, atHome: Candidate | undefined): Refusal {
    // Call `best` first: it looks for ports on the nodes that were listed again meanwhile.
    if (home === null) this.best();
    this.#updateAll();
    const asked = { ...this.#needs, home: home === null ? null : { nodeId: home, isBinding: true } };
    const entries = [...this.#sources.nodes.entries()].flatMap(([id]) => this.#entries.get(id) ?? []);
    const fits =
      home === null
        ? entries.map((entry) => ({ node: this.#candidateOf(entry), failed: entry.failed }))
        : checkConditions(
            asked,
            entries.map((entry) => (entry.nodeId === atHome?.nodeId ? atHome : this.#candidateOf(entry))),
          );
    if (fits.length === 0) return NO_NODES;
    const { message, conditions } = summarise(asked, fits);
    return {
      message: `0/${fits.length} nodes fit: ${message}`,
      conditions,
      hasBusyPorts: fits.some(({ node, failed }) => failed === PORT && node.busyPorts > 0),
    };
  }

  /** The facts of a node; those of a parked node are as they were when it was parked. */
  #candidateOf({ parked, node }: Entry): Candidate {
    return parked ?? candidateOf(this.#sources, this.#question, node);
  }

  #withPorts(candidate: Candidate, old?: OldPorts): Candidate {
    return withPorts(this.#sources, this.#question, candidate, old);
  }

  #catchUp(): void {
    const { changes, nodes, now } = this.#sources;
    const isUnparking = now() >= this.#unparkAt;
    if (this.#seen === changes.count && !isUnparking) return;
    this.#refusals.clear();
    const isFarBehind = changes.count - this.#seen > MOST_CHANGES_PER_NODE * nodes.size;
    const changed = isFarBehind || this.#seen < 0 ? undefined : changes.since(this.#seen);
    this.#seen = changes.count;
    if (changed === undefined) this.#lookAtAll();
    else this.#lookAgain(changed);
    if (isUnparking) {
      this.#unparkAt = Number.POSITIVE_INFINITY;
      for (const host of [...this.#parked.keys()]) this.#unpark(host);
    }
  }

  #lookAtAll(): void {
    const { nodes } = this.#sources;
    for (const [nodeId] of nodes.entries()) this.#evaluate(nodeId);
    for (const nodeId of [...this.#entries.keys()])
      if (nodes.get(nodeId) === undefined) this.#evaluate(nodeId);
    for (const host of [...this.#parked.keys()]) this.#unpark(host);
  }

  #lookAgain(changes: readonly FleetChange[]): void {
    const changed = new Set<string>();
    for (const { what, of } of changes) {
      // With `spread`, a fuller node does not move forward in the order, so only mark it as outdated.
      const entry = what === 'less' && this.#order === 'spread' ? this.#entries.get(of) : undefined;
      if (entry !== undefined) this.#noteOutdated(entry, true);
      else if (what === 'ports') this.#unpark(of);
      else changed.add(of);
    }
    for (const nodeId of changed) this.#evaluate(nodeId);
  }

  /** The first entry in the order, brought up to date; undefined: no node is listed. */
  #first(): Entry | undefined {
    for (let entry = this.#listed.peek(); ; entry = this.#listed.peek()) {
      if (entry !== undefined && !entry.isOutdated) return entry;
      if (entry !== undefined) this.#judge(entry);
      else if (this.#outdated > 0) this.#updateAll();
      else return undefined;
    }
  }

  #updateAll(): void {
    if (this.#outdated === 0) return;
    for (const entry of this.#entries.values()) if (entry.isOutdated) this.#judge(entry);
  }

  #evaluate(nodeId: string): void {
    const node = this.#sources.nodes.get(nodeId)?.value;
    const known = this.#entries.get(nodeId);
    if (node === undefined) {
      if (known !== undefined) this.#drop(known);
      return;
    }
    const entry = known ?? newEntry(node);
    entry.node = node;
    this.#entries.set(nodeId, entry);
    this.#judge(entry);
  }

  /** Judges a node as it is now, and lists it by its new rank. */
  #judge(entry: Entry): void {
    this.#forget(entry);
    const { node } = entry;
    const candidate = candidateOf(this.#sources, this.#question, node);
    const { first, second } = rankOf(candidate, this.#question.ramMB, this.#order);
    entry.first = first;
    entry.second = second;
    entry.failed = this.#failedBy(candidate);
    this.#list(entry, entry.failed === undefined);
    if (
      this.#sources.isAwaited(node) &&
      this.#failedBy({ ...candidate, condition: 'connected' }) === undefined
    )
      this.#awaited.add(entry.nodeId);
  }

  #drop(entry: Entry): void {
    this.#forget(entry);
    this.#list(entry, false);
    this.#entries.delete(entry.nodeId);
  }

  /** Clears what was found out about a node, except its rank. */
  #forget(entry: Entry): void {
    if (entry.parked !== undefined) this.#parked.get(entry.parked.hostAddress)?.delete(entry);
    entry.parked = undefined;
    this.#noteOutdated(entry, false);
    this.#awaited.delete(entry.nodeId);
  }

  #noteOutdated(entry: Entry, isOutdated: boolean): void {
    this.#outdated += Number(isOutdated) - Number(entry.isOutdated);
    entry.isOutdated = isOutdated;
  }

  #failedBy(candidate: Candidate): Condition | undefined {
    return firstFailed(this.#needs, candidate);
  }

  #list(entry: Entry, isListed: boolean): void {
    if (entry.isListed && isListed) this.#listed.update(entry);
    else if (isListed) this.#listed.push(entry);
    else if (entry.isListed) this.#listed.remove(entry);
    entry.isListed = isListed;
  }

  #park(entry: Entry, candidate: Candidate): void {
    const { busyPorts, now } = this.#sources;
    const { nodeId, hostAddress, lacks } = candidate;
    this.#list(entry, false);
    entry.parked = candidate;
    entry.failed = PORT;
    const parked = this.#parked.get(hostAddress) ?? new Set();
    this.#parked.set(hostAddress, parked.add(entry));
    const busy = lacks === undefined ? null : busyPorts.in(nodeId, lacks);
    if (busy !== null) this.#unparkAt = Math.min(this.#unparkAt, now() + busy.firstFreeInMs);
  }

  /** Lists the parked nodes of a host address again: a port may have come free there. */
  #unpark(host: string): void {
    const parked = this.#parked.get(host);
    this.#parked.delete(host);
    for (const entry of parked ?? []) {
      entry.parked = undefined;
      entry.failed = undefined;
      this.#list(entry, true);
    }
  }
}

const NO_NODES: Refusal = {
  message: '0/0 nodes fit: no node has joined the cluster yet',
  conditions: ['no-node'],
  hasBusyPorts: false,
};
