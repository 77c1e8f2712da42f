/**
 * The conditions that must hold at every instant. Each is judged at the one event that could break it: a durable
 * transaction, a start, a signal, an answer to a client. In a partition an instance may be replaced by one with
 * another id; the same id never runs twice.
 */
import { isDeepStrictEqual } from 'node:util';
import { isSamePort, type NamedPort, type OwnPorts, portsOf } from '../../src/model/fields/ports.js';
import { hasEndedByItself, type InstanceRecord, isAtRest } from '../../src/model/instance.js';
import type { NodeRecord } from '../../src/model/node.js';
import type { RunId, StartSpec } from '../../src/runtime/runtime.js';
import { judgeDueTimes } from './due-times.js';
import { FirstStarts } from './first-starts.js';
import { FreshFiles } from './fresh-files.js';
import { JobRuns } from './job-runs.js';
import type { Disk } from './machine/disk.js';
import { RESTART_TOKEN, REVISION } from './machine/fenced-installation.js';
import type { Life } from './machine/life.js';
import type { Machine } from './machine/machine.js';
import { NODE_TIMEOUT_MS } from './machine/master-role.js';
import type { SimulatedTemplates } from './machine/templates.js';
import { type Intent, Intents, type Wish } from './operator/intents.js';
import { RecordBook } from './record-book.js';
import { StopLadders } from './stop-ladders.js';

/** A node that was cut off may be given up so long after the trouble: silence, reconnecting, and a bye's minute. */
export const TROUBLE_MS = NODE_TIMEOUT_MS + 14_000;
const STORM_WINDOW_MS = 60_000;
const MOST_WHILE_FAILING = 20;

/** A decision is made on a copy that is so far behind a slow disk at most. */
const DECISION_MS = 1500;

/** What the invariants ask of the world around them. */
interface Surroundings {
  readonly now: () => number;
  /** Since when (virtual ms) a node has been in order; infinite: it is not. */
  readonly inOrderSince: (nodeId: string) => number;
  readonly isInterrupted: (nodeId: string) => boolean;
  /** When (virtual ms) the node's own disk was full last; infinite: it is. */
  readonly fullUntil: (nodeId: string) => number;
  /** Whether the master may have seen an instant (Unix ms) pass, by its own clock. */
  readonly mayBePast: (at: number) => boolean;
  /** Whether the program of a start hangs, or has hung. */
  readonly hasHung: (spec: StartSpec) => boolean;
  /** A client got an error: calls `close` when what it asked for will not be done any more. */
  readonly whenGivenUp: (error: unknown, close: () => void) => void;
  /** Things that happened to the fleet within the last so many ms. */
  readonly disturbances: (withinMs: number) => number;
  /** What was decided may wait so long for the write before it, whose answer is lost. */
  readonly unansweredMs: number;
}

interface LiveProcess {
  readonly nodeId: string;
  readonly spec: StartSpec;
  readonly startedAt: number;
  /** The configuration whose instances share its port; undefined: it is its own. Its content may be gone by now. */
  readonly sharer: string | undefined;
  /** Other stop settings may hold by now: its content changed without a restart. Who was told when is not known here. */
  isRefitted?: boolean;
}

export class Invariants {
  readonly book: RecordBook;
  readonly intents = new Intents();
  readonly #around: Surroundings;
  readonly #violations: string[] = [];
  /** Node of every live process, by instance. */
  readonly #live = new Map<string, LiveProcess>();
  /** Virtual instants of creations, by configuration. */
  readonly #creations = new Map<string, number[]>();
  readonly #mostWanted = new Map<string, number>();
  /** Virtual instant at which more of a configuration were wanted than its maximum allows, by configuration. */
  readonly #surplusAt = new Map<string, number>();
  /** Virtual instant since which an instance counts towards the maximum that did not before; absent: since it was made. */
  readonly #countsSince = new Map<string, number>();
  readonly #forgotten = new Set<string>();
  /** Virtual instant since which a node has not been connected, by its record. */
  readonly #awaySince = new Map<string, number>();
  /** Virtual instant at which a drain was last seen, by node. */
  readonly #drainedAt = new Map<string, number>();
  /** Virtual instant at which the time of a drain is over that no clock's jump has changed, by node. */
  readonly #drainOverAt = new Map<string, number>();
  /** Instances that were left to themselves on a forgotten node, and the node of each. */
  readonly #leftAlone = new Map<string, string>();
  /** Virtual instant at which the record of an instance went. */
  readonly #removedAt = new Map<string, number>();
  readonly #fresh: FreshFiles;
  readonly #runs: JobRuns;
  readonly #firstStarts: FirstStarts;
  readonly #ladders = new StopLadders();
  /** Processes that have said that they are ready, as `<node> <instance> <pid>`. */
  readonly #ready = new Set<string>();
  /** Virtual instant at which the first players of an instance came. */
  readonly #cameAt = new Map<string, number>();
  #asked = 0;

  constructor(state: Pick<Disk, 'onCommit'>, templates: SimulatedTemplates, around: Surroundings) {
    this.#around = around;
    this.#fresh = new FreshFiles(templates);
    judgeDueTimes(state, (violation) => this.report(violation));
    this.book = new RecordBook(state, {
      onInstance: (before, after) => this.#judgeInstance(before, after),
      onNode: (before, after) => this.#judgeNode(before, after),
    });
    this.#runs = new JobRuns(this.book, around);
    this.#firstStarts = new FirstStarts(this.book, around);
  }

  get violation(): string | undefined {
    return this.#violations[0];
  }

  report(violation: string): void {
    this.#violations.push(violation);
  }

  /** Node of the live process of an instance. */
  nodeOf(id: string): string | undefined {
    return this.#live.get(id)?.nodeId;
  }

  /** Whether the content of an instance has changed since its live process was started. */
  isRefitted(id: string): boolean {
    return this.#live.get(id)?.isRefitted === true;
  }

  get liveIds(): Iterable<string> {
    return this.#live.keys();
  }

  /** A configuration asks for this many. */
  noteWanted(name: string, minimum: number): void {
    this.#mostWanted.set(name, Math.max(minimum, this.#mostWanted.get(name) ?? 0));
  }

  /** How many times the run of a job was started. */
  startsOf(id: string): number {
    return this.#runs.startsOf(id);
  }

  /** Virtual instant at which the live process of an instance was started. */
  startedAtOf(id: string): number | undefined {
    return this.#live.get(id)?.startedAt;
  }

  /** The most instances that a configuration ever asked for. */
  mostWantedOf(name: string): number {
    return this.#mostWanted.get(name) ?? 0;
  }

  /** An operator gives a node up, and what it held. */
  noteForgotten(nodeId: string): void {
    this.#forgotten.add(nodeId);
  }

  /** The node of a forgotten instance, which may run there. */
  leftAloneOn(id: string): string | undefined {
    return this.#leftAlone.get(id);
  }

  /** It may join again: what it ran before is not wanted. */
  noteLetIn(nodeId: string): void {
    this.#forgotten.delete(nodeId);
  }

  /** A node was forgotten with these instances: nothing of them is left. */
  judgeForgotten(nodeId: string, ids: readonly string[]): void {
    if (this.book.nodes.has(nodeId)) this.report(`${nodeId} was forgotten, and has a record`);
    for (const { id, placement, desired } of this.book.instances.values()) {
      const isLeft = placement?.nodeId === nodeId || (ids.includes(id) && desired.goal !== 'remove');
      if (isLeft) this.report(`${nodeId} was forgotten, and ${id} was not`);
    }
  }

  /** The restart policy of a content; undefined: nothing is known of it. */
  policyOf(revision: string): string | undefined {
    const configuration = this.book.revisions.get(revision);
    return configuration === undefined ? undefined : (configuration.restartPolicy ?? 'always');
  }

  noteAsked(count: number): void {
    this.#asked += count;
  }

  /** A client asks for something; `answer` is what it gets. */
  follow(id: string, wish: Wish, answer: Promise<unknown>): Promise<void> {
    const intent = this.intents.open(id, wish, this.book.instances.get(id));
    return answer.then(
      () => this.#answered(intent),
      (error: unknown) => {
        this.#around.whenGivenUp(error, () => this.intents.close(intent));
        throw error;
      },
    );
  }

  /** A client was told that a run is there. */
  noteRun(key: string, id: string): void {
    this.#reportAny(this.#runs.answered(key, id));
  }

  noteStart(machine: Machine, spec: StartSpec): void {
    const { instanceId: id } = spec;
    const { nodeId } = machine;
    const running = this.#live.get(id);
    if (running !== undefined)
      this.report(`two processes for ${id}: on ${running.nodeId}, and now on ${nodeId}`);
    if (
      !this.book.instances.has(id) &&
      this.#leftAlone.get(id) !== nodeId &&
      !this.#mayHaveForgotten(nodeId, id)
    )
      this.report(`${nodeId} starts ${id}, of which there is no record`);
    const files = machine.directories.get(id);
    if (files === undefined) this.report(`${nodeId} starts ${id} without an install`);
    const token = Number(spec.environment[RESTART_TOKEN]);
    const stale = this.#fresh.faultOf(id, token, files?.split(',') ?? []);
    if (stale !== undefined) this.report(stale);
    this.#judgeMachine(machine, spec);
    this.#reportAny(this.#runs.started(nodeId, spec, Number(spec.environment[RESTART_TOKEN])));
    const isRefitted = this.book.instances.get(id)?.revision !== spec.environment[REVISION];
    this.#live.set(id, {
      nodeId,
      spec,
      startedAt: this.#around.now(),
      sharer: this.#sharerOf(spec),
      isRefitted,
    });
  }

  /** The node could not write when it was told that the instance goes: killed then, it starts it until it is told again. */
  #mayHaveForgotten(nodeId: string, id: string): boolean {
    return this.#around.fullUntil(nodeId) >= (this.#removedAt.get(id) ?? Number.POSITIVE_INFINITY);
  }

  noteEnd(nodeId: string, id: string): void {
    if (this.#live.get(id)?.nodeId === nodeId) this.#live.delete(id);
  }

  noteReady(nodeId: string, id: string, pid: number): void {
    this.#ready.add(`${nodeId} ${id} ${pid}`);
  }

  /** A daemon is about to send a signal to a live run, or (null) to write its stop command. */
  noteRung(life: Life, run: RunId, signal: NodeJS.Signals | null): void {
    const live = this.#live.get(run.instanceId);
    if (live === undefined || live.isRefitted === true) return;
    const { spec, startedAt } = live;
    // Killed while it could not write, the node knows the content of an earlier start.
    if (this.#around.fullUntil(life.name) >= startedAt) return;
    const [ladders, now] = [this.#ladders, this.#around.now()];
    const fault =
      signal === null ? ladders.command(life, spec, now) : ladders.signal(life, signal, spec, now);
    if (fault !== undefined) this.report(fault);
  }

  noteSignal(nodeId: string, { instanceId: id }: RunId, signal: string): void {
    if (this.#around.isInterrupted(nodeId)) this.#runs.excuse(id);
    const record = this.book.instances.get(id);
    if (record === undefined || record.desired.goal !== 'run') return;
    if (record.placement?.nodeId !== nodeId || this.#around.isInterrupted(nodeId)) return;
    const live = this.#live.get(id);
    // A node that cannot write goes on; killed then, it does not know any more what it has done, and may repeat it.
    if (live === undefined || this.#around.fullUntil(nodeId) >= live.startedAt) return;
    // Its node has found that it is not alive, and nothing else may end what is wanted.
    if (this.#around.hasHung(live.spec)) return;
    // It was given another port while it tried the former one.
    if (!isDeepStrictEqual(portsOf(live.spec), portsOf(record.placement))) return;
    const token = Number(live.spec.environment[RESTART_TOKEN]);
    if (record.desired.restartToken <= token)
      this.report(`${nodeId} sends ${signal} to ${id}, which is wanted, and wanted there`);
  }

  #answered(intent: Intent): void {
    this.intents.close(intent);
    const lie = this.intents.lieOf(intent, this.book.instances.get(intent.id));
    if (lie !== undefined) this.report(`${intent.wish} was acknowledged, but ${lie}`);
  }

  #judgeMachine(machine: Machine, spec: StartSpec): void {
    let ramMB = spec.ramMB;
    const sharer = this.#sharerOf(spec);
    for (const [id, other] of this.#live) {
      if (other.nodeId !== machine.nodeId || id === spec.instanceId || this.#leftAlone.has(id)) continue;
      ramMB += other.spec.ramMB;
      const both = sharedPort(spec, other.spec);
      const isShared = sharer !== undefined && sharer === other.sharer;
      if (both !== undefined && !isShared)
        this.report(`${id} and ${spec.instanceId} both use port ${both} of ${machine.nodeId}`);
    }
    if (ramMB > machine.capacity.maxRamMB && !this.#leftAlone.has(spec.instanceId))
      this.report(`${machine.nodeId} runs ${ramMB} MB of ${machine.capacity.maxRamMB} MB`);
  }

  #reportAny(fault: string | undefined): void {
    if (fault !== undefined) this.report(fault);
  }

  #judgeInstance(before: InstanceRecord | undefined, after: InstanceRecord | undefined): void {
    this.#reportAny(this.#firstStarts.changed(before, after));
    if (after !== undefined) this.#reportAny(this.#runs.changed(before, after));
    this.#noteSurplus(after?.configurationName ?? before?.configurationName ?? '');
    if (before !== undefined && after !== undefined) this.#judgeChange(before, after);
    else if (after !== undefined) this.#judgeCreation(after);
    else if (before !== undefined) this.#judgeRemoval(before);
  }

  #judgeChange(before: InstanceRecord, after: InstanceRecord): void {
    this.#fresh.noteRecord(before, after);
    const live = this.#live.get(after.id);
    const isSameStart = before.desired.restartToken === after.desired.restartToken;
    if (live !== undefined && before.revision !== after.revision && isSameStart) live.isRefitted = true;
    if ((before.status.players ?? 0) === 0 && (after.status.players ?? 0) > 0)
      this.#cameAt.set(after.id, this.#around.now());
    const nodeId = before.placement?.nodeId ?? '';
    if (after.placement === null && this.#forgotten.has(nodeId)) this.#leftAlone.set(after.id, nodeId);
    const isSurplus = this.#isSurplus(before);
    const mayGo = this.#isMoved(before) || this.#givesWay(before) || hasEndedByItself(before);
    const isAway = this.#isAway(before);
    if (before.desired.goal === 'run' && after.desired.goal === 'remove')
      this.#judgeGuests(before, isSurplus);
    const objection = this.intents.objectionTo(before, after, { isSurplus, mayGo, isAway });
    if (objection !== undefined) this.report(objection);
    this.#judgeOnline(before, after);
    if (!this.#counts(before) && this.#counts(after)) this.#countsSince.set(after.id, this.#around.now());
    if (JSON.stringify(before.placement) !== JSON.stringify(after.placement))
      this.#judgePlacement(before, after);
  }

  /** What its node calls ONLINE has shown that it is ready. What the app says of itself is its own affair. */
  #judgeOnline(
    { status: before }: InstanceRecord,
    { id, revision, placement, status }: InstanceRecord,
  ): void {
    const { state, pid, reason, awaitsReport, awaitsRestart } = status;
    if (state !== 'ONLINE' || pid === null || reason === 'reported' || awaitsReport === true) return;
    // The node speaks of the former run, and of the content that it had.
    if (awaitsRestart === true) return;
    if (before.state === 'ONLINE' && before.pid === pid) return;
    if (this.book.revisions.get(revision)?.readiness === undefined) return;
    if (!this.#ready.has(`${placement?.nodeId} ${id} ${pid}`))
      this.report(`${id} is ONLINE with pid ${pid}, which has not said that it is ready`);
  }

  #judgePlacement(before: InstanceRecord, after: InstanceRecord): void {
    const { id, placement, home } = after;
    const running = this.#live.get(id)?.nodeId;
    if (
      placement?.nodeId !== before.placement?.nodeId &&
      before.placement !== null &&
      running !== undefined &&
      !this.#leftAlone.has(id)
    )
      this.report(`${id} loses its place while its process runs on ${running}`);
    if (placement === null) return;
    if (before.static && before.home !== null && before.home.nodeId !== placement.nodeId)
      this.report(`the static ${id} moves from ${before.home.nodeId} to ${placement.nodeId}`);
    if (home?.nodeId !== placement.nodeId)
      this.report(`${id} is at home on ${home?.nodeId}, not where it was placed`);
    this.#judgePort(after, placement);
    this.#judgeRam(placement.nodeId);
  }

  /** The configuration whose instances share the port of this start; undefined: it is its own. */
  #sharerOf({ environment }: StartSpec): string | undefined {
    const { sharePort, name } = this.book.revisions.get(environment[REVISION] ?? '') ?? {};
    return sharePort && name;
  }

  /**
   * No two of one address or node, one protocol and one number, unless both share it as instances of one configuration on
   * one node. A static one keeps its ports while it waits.
   */
  #judgePort(
    { id, configurationName }: InstanceRecord,
    placement: NonNullable<InstanceRecord['placement']>,
  ): void {
    const { nodeId, hostAddress } = placement;
    for (const other of this.book.instances.values()) {
      const place = other.placement ?? (other.static ? other.home : null);
      const isOfOne = other.configurationName === configurationName && place?.nodeId === nodeId;
      const port = other.id === id || place === null ? undefined : sharedPort(placement, place, isOfOne);
      if (port === undefined) continue;
      if (place?.nodeId === nodeId || other.placement?.hostAddress === hostAddress)
        this.report(`port ${port} of ${nodeId} (${hostAddress}) is given to ${id}, and ${other.id} has it`);
    }
  }

  /** What has stopped has given its RAM back. */
  #judgeRam(nodeId: string): void {
    const capacity = this.book.nodes.get(nodeId)?.capacity.maxRamMB ?? 0;
    let ramMB = 0;
    for (const record of this.book.instances.values())
      if (record.placement?.nodeId === nodeId && !isAtRest(record)) ramMB += record.ramMB;
    if (ramMB > capacity) this.report(`${ramMB} MB are given out on ${nodeId}, which has ${capacity} MB`);
  }

  #judgeCreation(record: InstanceRecord): void {
    const { id, configurationName: name } = record;
    this.#fresh.noteRecord(undefined, record);
    if (this.#removedAt.has(id)) this.report(`${id} is recorded again`);
    const maximum = this.#mostAllowed(name);
    const wanted = this.#wantedOf(name, (one) => this.#hasCounted(one));
    // In the place of one that was wanted until this very write it makes none more.
    const isNeutral = this.book.instances.get(record.replaces ?? '')?.desired.goal === 'remove';
    if (!isNeutral && wanted > maximum)
      this.report(`${id} is created as number ${wanted} of ${name}, which allows ${maximum}`);
    const now = this.#around.now();
    const recent = (this.#creations.get(name) ?? []).filter((at) => now - at < STORM_WINDOW_MS);
    recent.push(now);
    this.#creations.set(name, recent);
    const disturbances = this.#around.disturbances(2 * STORM_WINDOW_MS);
    const bound = this.#asked + MOST_WHILE_FAILING + (this.#mostWanted.get(name) ?? 0) * (2 + disturbances);
    if (recent.length > bound)
      this.report(`${recent.length} instances of ${name} were created within ${STORM_WINDOW_MS / 1000} s`);
  }

  /**
   * Who decides to create one may have counted it. One may be started, or become one that counts although its node is lost,
   * while another is being created: then the youngest is stopped. Who has started it may be without an answer.
   */
  #hasCounted(record: InstanceRecord): boolean {
    const before = this.book.replaced.instances.get(record.id) ?? record;
    const since = this.#countsSince.get(record.id) ?? Number.NEGATIVE_INFINITY;
    const heldForMs = this.#around.now() - since;
    const isKnown = heldForMs >= DECISION_MS + this.#around.unansweredMs;
    return this.#counts(before) && this.#counts(record) && isKnown;
  }

  #counts(record: InstanceRecord): boolean {
    return record.desired.goal === 'run' && !this.#isReplaced(record);
  }

  /** By the configuration as the creation may have found it. */
  #mostAllowed(name: string): number {
    const { configurations, replaced } = this.book;
    const { maximumServiceCount: now = Number.POSITIVE_INFINITY } = configurations.get(name) ?? {};
    if (!replaced.maxima.has(name)) return now;
    return Math.max(now, replaced.maxima.get(name) ?? Number.POSITIVE_INFINITY);
  }

  #judgeRemoval({ id, desired, placement, status }: InstanceRecord): void {
    this.#removedAt.set(id, this.#around.now());
    if (desired.goal !== 'remove') this.report(`the record of ${id} is gone although it was not deleted`);
    if (placement !== null && !status.gone) this.report(`the record of ${id} is gone before its process is`);
    const running = this.#live.get(id)?.nodeId;
    if (running !== undefined && !this.#leftAlone.has(id))
      this.report(`the record of ${id} is gone while its process runs on ${running}`);
  }

  #noteSurplus(name: string): void {
    const { configurations, formerMaxima } = this.book;
    const maxima = [configurations.get(name)?.maximumServiceCount, formerMaxima.get(name)];
    // What has just been stopped counts: it is what the question is about.
    const wanted = this.#wantedOf(name) + 1;
    if (maxima.some((maximum) => maximum !== undefined && wanted > maximum))
      this.#surplusAt.set(name, this.#around.now());
  }

  /** What has players is moved by nobody before the deadline of a drain. */
  #judgeGuests(record: InstanceRecord, isSurplus: boolean): void {
    const { id, status, placement } = record;
    const nodeId = placement?.nodeId ?? '';
    if ((status.players ?? 0) === 0 || isSurplus || hasEndedByItself(record)) return;
    if (this.intents.isOpen(id, 'delete') || this.#forgotten.has(nodeId)) return;
    // They came while it was decided.
    if (this.#around.now() - (this.#cameAt.get(id) ?? 0) < DECISION_MS) return;
    const deadline = this.book.nodes.get(nodeId)?.drain?.deadline;
    if (deadline !== undefined && this.#around.mayBePast(deadline)) return;
    // A wall clock that is set back does not prolong a drain that the master knows already.
    if (this.#around.now() >= (this.#drainOverAt.get(nodeId) ?? Number.POSITIVE_INFINITY)) return;
    this.report(`${id} is moved away although it has ${status.players} players`);
  }

  /** Its node is being emptied, or was given up with all that it held; or it is the replacement, and that is called off. */
  #isMoved({ placement, home, replaces }: InstanceRecord): boolean {
    if (replaces !== undefined) return true;
    const nodeId = placement?.nodeId ?? home?.nodeId ?? '';
    const drainedAt = this.#drainedAt.get(nodeId) ?? Number.NEGATIVE_INFINITY;
    const isDraining = this.book.nodes.get(nodeId)?.drain !== undefined;
    return this.#forgotten.has(nodeId) || isDraining || this.#around.now() - drainedAt < DECISION_MS;
  }

  /** Another one was made in its place, and either a controller made it as well, or that one took over its maker. */
  #givesWay(original: InstanceRecord): boolean {
    return [...this.book.instances.values()].some((record) => {
      const isStanding = record.replaces === original.id && record.desired.goal === 'run';
      return isStanding && (original.madeBy === 'enforcer' || record.madeBy === 'client');
    });
  }

  /** Up or about to be, on a node that has been away for a while. */
  #isAway(record: InstanceRecord): boolean {
    if (isAtRest(record)) return false;
    const { placement } = record;
    const since = this.#awaySince.get(placement?.nodeId ?? '');
    return since !== undefined && this.#around.now() - since > DECISION_MS;
  }

  /** One of more than the maximum allows, now or a moment ago. */
  #isSurplus({ configurationName: name }: InstanceRecord): boolean {
    return this.#around.now() - (this.#surplusAt.get(name) ?? Number.NEGATIVE_INFINITY) < DECISION_MS;
  }

  #wantedOf(name: string, counts: (record: InstanceRecord) => boolean = () => true): number {
    let wanted = 0;
    for (const record of this.book.instances.values())
      if (record.configurationName === name && record.desired.goal === 'run' && counts(record)) wanted++;
    return wanted;
  }

  /** OFFLINE, and no node is there to bring it back. */
  #isReplaced({ placement, status, static: isStatic }: InstanceRecord): boolean {
    const { nodes, replaced } = this.book;
    const nodeId = placement?.nodeId ?? '';
    const wasLost = [nodes.get(nodeId), replaced.nodes.get(nodeId)].some(
      (node) => node?.condition === 'lost',
    );
    // Its node may be back, a moment before the record says so.
    const isLost = wasLost || status.reason === 'node-lost';
    return status.state === 'OFFLINE' && isLost && !isStatic;
  }

  #noteCondition({ nodeId, condition }: NodeRecord): void {
    if (condition === 'connected') this.#awaySince.delete(nodeId);
    else if (!this.#awaySince.has(nodeId)) this.#awaySince.set(nodeId, this.#around.now());
  }

  #noteDrain(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    const nodeId = (after ?? before)?.nodeId ?? '';
    const drain = after?.drain;
    if (drain === undefined) this.#drainOverAt.delete(nodeId);
    else if (before?.drain?.since !== drain.since || before.drain.deadline !== drain.deadline)
      this.#drainOverAt.set(nodeId, this.#around.now() + drain.deadline - drain.since - DECISION_MS);
  }

  #judgeNode(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    if (before?.drain !== undefined) this.#drainedAt.set(before.nodeId, this.#around.now());
    this.#noteDrain(before, after);
    if (after !== undefined && after.condition !== before?.condition) this.#noteCondition(after);
    if (after?.condition !== 'lost' || before?.condition === 'lost') return;
    const inOrderForMs = this.#around.now() - this.#around.inOrderSince(after.nodeId);
    if (inOrderForMs > TROUBLE_MS)
      this.report(`${after.nodeId} is called lost, but has been in order for ${Math.round(inOrderForMs)} ms`);
  }
}

/** The number of a port that both have; undefined: there is none. `mayShare`: a port that both call shared is none. */
function sharedPort(a: OwnPorts, b: OwnPorts, mayShare = false): number | undefined {
  const isTaken = (one: NamedPort, other: NamedPort): boolean =>
    isSamePort(one, other) && !(mayShare && one.sharedBy !== undefined && one.sharedBy === other.sharedBy);
  return portsOf(a).find((one) => portsOf(b).some((other) => isTaken(one, other)))?.port;
}
