/**
 * The answer to one question: where one more instance of a configuration fits. It keeps the nodes that pass in order
 * of choice, and looks again only at what changed since it was asked last. A node with less free than before comes no
 * earlier in the order, so it is looked at when it would be chosen. A port, too, is looked for only there; a node
 * without one is parked until a port may be free.
 */
import { Heap, type HeapItem } from '../../../src/loop/heap.js';
import type { PlacementOrder } from '../../../src/model/configuration.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { candidateOf, type FleetSources, type Question, withPort } from './candidates.js';
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
import { isBefore, type Rank, rankOf } from './order.js';

export interface ShortlistSources extends FleetSources {
  readonly changes: FleetChanges;
  /** Monotonic ms. */
  readonly now: () => number;
  /** The node was known when this master started, and is expected back. */
  readonly isAwaited: (node: NodeRecord) => boolean;
}

/** Why no node fits, for the status and the metric. */
export interface Refusal {
  readonly message: string;
  /** Short codes of the conditions that nodes failed. */
  readonly conditions: readonly string[];
  /** Ports are believed busy: one of them may come free without an event. */
  readonly hasBusyPorts: boolean;
}

interface Entry extends HeapItem {
  candidate: Candidate;
  rank: Rank;
  failed: Condition | undefined;
  isListed: boolean;
}

/** More changes than so many per node: then all nodes are looked at. */
const MOST_CHANGES_PER_NODE = 2;

export class Shortlist {
  readonly #sources: ShortlistSources;
  readonly #question: Question;
  readonly #needs: Needs;
  readonly #order: PlacementOrder;
  readonly #entries = new Map<string, Entry>();
  /** Those that pass every condition, but for parked ones. */
  readonly #listed: Heap<Entry>;
  /** Those with less free than they show. */
  readonly #outdated = new Set<Entry>();
  /** Those without a free port, by host address. */
  readonly #parked = new Map<string, Set<Entry>>();
  /** When (monotonic ms) a busy port of a parked node comes free. */
  #unparkAt = Number.POSITIVE_INFINITY;
  /** Nodes that are expected back, and fit but for that. */
  readonly #awaited = new Set<string>();
  /** By the home that binds an instance, or ''. */
  readonly #refusals = new Map<string, Refusal>();
  #seen = -1;

  constructor(sources: ShortlistSources, question: Question) {
    this.#sources = sources;
    this.#question = question;
    this.#needs = { ...question, home: null };
    this.#order = question.configuration.placement ?? 'spread';
    this.#listed = new Heap((a, b) => isBefore(a.rank, b.rank));
  }

  /** The node that comes first, with a port; undefined: no node fits. */
  best(): Candidate | undefined {
    this.#catchUp();
    for (let entry = this.#first(); entry !== undefined; entry = this.#first()) {
      const candidate = this.#withPort(entry, null);
      if (candidate.port !== undefined) return candidate;
      this.#park(entry, candidate);
    }
    return undefined;
  }

  /** The node with a port, if possible `oldPort`; undefined: it does not fit. */
  at(nodeId: string, oldPort: number | null): Candidate | undefined {
    this.#catchUp();
    this.#update(this.#entries.get(nodeId));
    const entry = this.#entries.get(nodeId);
    if (entry === undefined || (entry.failed !== undefined && entry.failed !== PORT)) return undefined;
    const candidate = this.#withPort(entry, oldPort);
    return candidate.port === undefined ? undefined : candidate;
  }

  /**
   * Why none fits, after `best` or `at` has said so. `home`: the only node that is allowed to an instance; null: all
   * are.
   */
  refusal(home: string | null): Refusal {
    const known = this.#refusals.get(home ?? '');
    if (known !== undefined) return known;
    const refusal = this.#refuse(home);
    this.#refusals.set(home ?? '', refusal);
    return refusal;
  }

  /** The nodes that are expected back, and fit but for that. */
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
    for (const { candidate, isListed } of this.#entries.values()) {
      if (room >= most) return most;
      const { nodeId, freeRamMB, freeCpu } = candidate;
      const node = nodes.get(nodeId)?.value;
      if (!isListed || node === undefined) continue;
      let here = Math.min(Math.floor(freeRamMB / ramMB), cpu === 0 ? most : Math.floor(freeCpu / cpu));
      if (ports !== undefined) {
        const host = hostAddressOf(configuration, node);
        const left = portsLeft.get(host) ?? ledger.countFreePorts('', host, ports, most);
        here = Math.min(here, left, ledger.countFreePorts(nodeId, host, ports, Math.min(here, left)));
        portsLeft.set(host, left - here);
      }
      room += here;
    }
    return Math.min(room, most);
  }

  #refuse(home: string | null): Refusal {
    // Of those that were listed again meanwhile the ports are not known.
    if (home === null) this.best();
    this.#updateAll();
    const asked = { ...this.#needs, home: home === null ? null : { nodeId: home, isBinding: true } };
    const entries = [...this.#sources.nodes.entries()].flatMap(([id]) => this.#entries.get(id) ?? []);
    const fits =
      home === null
        ? entries.map(({ candidate, failed }) => ({ node: candidate, failed }))
        : checkConditions(
            asked,
            entries.map((entry) =>
              entry.candidate.nodeId === home ? this.#withPort(entry, null) : entry.candidate,
            ),
          );
    if (fits.length === 0) return NO_NODES;
    const { message, conditions } = summarise(asked, fits);
    return {
      message: `0/${fits.length} nodes fit: ${message}`,
      conditions,
      hasBusyPorts: fits.some(({ node, failed }) => failed === PORT && node.busyPorts > 0),
    };
  }

  #withPort({ candidate }: Entry, old: number | null): Candidate {
    return withPort(this.#sources, this.#question, candidate, { port: old });
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
      // A fuller node comes no earlier in this order.
      const entry = what === 'less' && this.#order === 'spread' ? this.#entries.get(of) : undefined;
      if (entry !== undefined) this.#outdated.add(entry);
      else if (what === 'ports') this.#unpark(of);
      else changed.add(of);
    }
    for (const nodeId of changed) this.#evaluate(nodeId);
  }

  /** The first in the order, as it is now; undefined: none is listed. */
  #first(): Entry | undefined {
    for (let entry = this.#listed.peek(); ; entry = this.#listed.peek()) {
      if (entry !== undefined && !this.#outdated.has(entry)) return entry;
      if (entry !== undefined) this.#update(entry);
      else if (this.#outdated.size > 0) this.#updateAll();
      else return undefined;
    }
  }

  #update(entry: Entry | undefined): void {
    if (entry !== undefined && this.#outdated.has(entry)) this.#evaluate(entry.candidate.nodeId);
  }

  #updateAll(): void {
    for (const entry of this.#outdated) this.#update(entry);
  }

  #evaluate(nodeId: string): void {
    const node = this.#sources.nodes.get(nodeId)?.value;
    const known = this.#entries.get(nodeId);
    if (known?.failed === PORT) this.#parked.get(known.candidate.hostAddress)?.delete(known);
    if (known !== undefined) this.#outdated.delete(known);
    this.#awaited.delete(nodeId);
    if (node === undefined) {
      if (known?.isListed === true) this.#listed.remove(known);
      this.#entries.delete(nodeId);
      return;
    }
    const candidate = candidateOf(this.#sources, this.#question, node);
    const rank = rankOf(candidate, this.#question.ramMB, this.#order);
    const entry = known ?? { candidate, rank, failed: undefined, isListed: false, slot: -1 };
    entry.candidate = candidate;
    entry.rank = rank;
    entry.failed = this.#failedBy(candidate);
    this.#entries.set(nodeId, entry);
    this.#list(entry, entry.failed === undefined);
    if (
      this.#sources.isAwaited(node) &&
      this.#failedBy({ ...candidate, condition: 'connected' }) === undefined
    )
      this.#awaited.add(nodeId);
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
    const { ports } = this.#question;
    const { nodeId, hostAddress } = candidate;
    this.#list(entry, false);
    entry.candidate = candidate;
    entry.failed = PORT;
    const parked = this.#parked.get(hostAddress) ?? new Set();
    this.#parked.set(hostAddress, parked.add(entry));
    const busy = ports === undefined ? null : busyPorts.in(nodeId, ports);
    if (busy !== null) this.#unparkAt = Math.min(this.#unparkAt, now() + busy.firstFreeInMs);
  }

  /** A port may be free under the host address: its parked nodes are listed again. */
  #unpark(host: string): void {
    const parked = this.#parked.get(host);
    this.#parked.delete(host);
    for (const entry of parked ?? []) {
      entry.candidate = { ...entry.candidate, port: null, busyPorts: 0 };
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
