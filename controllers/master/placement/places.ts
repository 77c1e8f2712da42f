/**
 * Finds the places for an instance: it gathers placement's facts from the shortlists, and answers `why`, the drain and
 * the waiting controller. It writes nothing.
 */
import type { BeatBook } from '../../../src/channel/master/beat-book.js';
import type { PlacementView } from '../../../src/explain/decisions.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { Configuration } from '../../../src/model/configuration.js';
import { portsOf } from '../../../src/model/fields/ports.js';
import type { InstanceRecord, PlacedTemplate } from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { keepLatest } from '../../../src/model/plain/keep-latest.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import { candidateOf, type FleetSources, type Question, questionOf, withPorts } from './candidates.js';
import { type Candidate, firstFailed, type Needs } from './conditions.js';
import type { FleetChanges } from './fleet-changes.js';
import { AWAIT_NODES_MS, type Awaited, type PlacementFacts } from './plan.js';
import { type Refusal, Shortlist, type ShortlistSources } from './shortlist.js';
import { viewOf } from './view.js';

/** How many shortlists are kept: each holds an entry for every node. A dropped one is made anew. */
const MOST_SHORTLISTS = 64;

export interface PlacesOptions extends FleetSources {
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'get'>;
  readonly revisions: Pick<MirrorReader<Configuration>, 'get'>;
  readonly changes: FleetChanges;
  readonly beats: Pick<BeatBook, 'contact' | 'lastBeatAt'>;
  readonly chooseTemplates: (
    configuration: Configuration,
    instanceId: string,
  ) => { readonly templates: readonly PlacedTemplate[]; readonly problems: readonly string[] };
  /** The waits of `waitsFor` that do not hold yet, one text each. Default: all of it holds. */
  readonly waitsOf?: (configuration: Configuration) => readonly string[];
  readonly clock: Clock;
}

/** Whether one more instance of a configuration fits; `obstacle` says why it does not. */
export interface PlacementOutlook {
  readonly obstacle: string | null;
  readonly hasBusyPorts: boolean;
}

export class Places {
  readonly #options: PlacesOptions;
  readonly #sources: ShortlistSources;
  /** The shortlists by revision, as all instances of a revision ask the same; the one that was asked last comes last. */
  readonly #shortlists = new Map<string, Shortlist>();
  /** The time (monotonic ms) until which placement waits for nodes that are expected back. */
  #awaitUntil = Number.NEGATIVE_INFINITY;
  #isDeciding = false;

  constructor(options: PlacesOptions) {
    const { clock } = options;
    this.#options = options;
    this.#sources = {
      ...options,
      now: () => clock.monotonic(),
      isAwaited: (node) => clock.monotonic() < this.#awaitUntil && this.#isToCome(node),
    };
  }

  /**
   * Called once, when this master begins to decide. From now on placement waits for the nodes that earlier masters
   * knew.
   */
  begin(): void {
    const { nodes, clock } = this.#options;
    this.#isDeciding = true;
    if ([...nodes.entries()].some(([, { value }]) => this.#isToCome(value)))
      this.#awaitUntil = clock.monotonic() + AWAIT_NODES_MS;
  }

  /** Called when this master stops deciding. */
  end(): void {
    this.#isDeciding = false;
  }

  /** The facts of an instance; undefined: it is gone. */
  factsOf(id: string): PlacementFacts | undefined {
    const record = this.#options.instances.get(id)?.value;
    return record === undefined ? undefined : this.factsOfRecord(record);
  }

  /**
   * The facts of an instance that is about to be created. While this master does not decide, they say that
   * there is nothing to place.
   */
  factsOfNew(record: InstanceRecord): PlacementFacts {
    return this.#isDeciding ? this.factsOfRecord(record) : { ...IDLE, id: record.id };
  }

  /** The facts of an instance from its record, which need not be stored yet. */
  factsOfRecord(record: InstanceRecord): PlacementFacts {
    const { id } = record;
    const { revisions } = this.#options;
    const task = taskOf(record);
    const configuration = revisions.get(record.revision)?.value;
    // Without the revision, decide nothing: it may arrive later, as a change of its own that wakes this key
    // again.
    if (task === null || configuration === undefined) return { ...IDLE, id };
    return task === 'move'
      ? this.#factsOfMove(record, configuration)
      : this.#factsOfPlace(record, configuration);
  }

  /** True while the placement of an instance is being written. */
  isPlacing(id: string): boolean {
    return this.#options.ledger.isPromised(id);
  }

  /** How many instances with the same needs as this one fit; counted up to `most`. */
  room(id: string, most: number): number {
    const { instances, revisions } = this.#options;
    const record = instances.get(id)?.value;
    const configuration = revisions.get(record?.revision ?? '')?.value;
    if (record === undefined || configuration === undefined) return 0;
    if (record.placement !== null || boundTo(record) !== null) return most;
    return this.#shortlistOf(record.revision, configuration).room(most);
  }

  /** Whether one more instance of a configuration fits anywhere; if not, why. `revision`: the hash of the configuration. */
  outlookOf(revision: string, configuration: Configuration): PlacementOutlook {
    const waits = this.#waitsOf(configuration);
    const problems = [...waits, ...this.#options.chooseTemplates(configuration, '').problems];
    if (problems.length > 0) return { obstacle: problems.join('; '), hasBusyPorts: false };
    const shortlist = this.#shortlistOf(revision, configuration);
    if (shortlist.best() !== undefined) return { obstacle: null, hasBusyPorts: false };
    const { message, hasBusyPorts } = shortlist.refusal(null);
    return { obstacle: message, hasBusyPorts };
  }

  /** The fit of each node for an instance that waits for a place or another port; undefined: it waits for neither. */
  viewOf(id: string): PlacementView | undefined {
    const { instances, revisions } = this.#options;
    const record = instances.get(id)?.value;
    const configuration = revisions.get(record?.revision ?? '')?.value;
    const facts = this.factsOf(id);
    if (record === undefined || configuration === undefined || facts === undefined || facts.task === null)
      return undefined;
    const isMove = facts.task === 'move';
    const question = isMove ? moveQuestionOf(configuration) : questionOf(configuration);
    const candidates = isMove ? this.#candidatesOfMove(record, question) : this.#candidates(question, record);
    const needs = { ...question, home: isMove ? null : homeOf(record) };
    return viewOf({ facts, needs, candidates }, this.#options);
  }

  /** The fit of each node for one more instance of the configuration. */
  viewOfNext(configuration: Configuration): PlacementView {
    const question = questionOf(configuration);
    const { problems } = this.#options.chooseTemplates(configuration, '');
    const waits = this.#waitsOf(configuration);
    const facts: PlacementFacts = { ...IDLE, id: '', task: 'place', waits, templateProblems: problems };
    const needs = { ...question, home: null };
    return viewOf({ facts, needs, candidates: this.#candidates(question) }, this.#options);
  }

  #factsOfPlace(record: InstanceRecord, configuration: Configuration): PlacementFacts {
    const { id, home } = record;
    const { templates, problems } = this.#options.chooseTemplates(configuration, id);
    const shortlist = this.#shortlistOf(record.revision, configuration);
    const bound = boundTo(record);
    const keeper = record.static ? id : undefined;
    const atHome = home === null ? undefined : shortlist.at(home.nodeId, portsOf(home), keeper);
    const isHome = atHome !== undefined && atHome.lacks === undefined;
    return {
      id,
      task: 'place',
      choice: isHome ? atHome : bound === null ? (shortlist.best() ?? shortlist.worthATry()) : undefined,
      refusal: () => shortlist.refusal(bound, atHome),
      homeId: home?.nodeId ?? null,
      isUrgent: record.madeBy === 'client',
      awaited: this.#awaitedBy(shortlist, bound),
      // Only the first start waits: an instance that was placed before has run, or was about to.
      waits: home === null ? this.#waitsOf(configuration) : [],
      templates,
      templateProblems: problems,
      message: record.status.message,
    };
  }

  /**
   * The facts of an instance that only needs another port on its node. The node meets all other conditions
   * already.
   */
  #factsOfMove(record: InstanceRecord, configuration: Configuration): PlacementFacts {
    const question = moveQuestionOf(configuration);
    const [candidate] = this.#candidatesOfMove(record, question);
    const fits = candidate !== undefined && firstFailed({ ...question, home: null }, candidate) === undefined;
    const hasBusyPorts = candidate !== undefined && candidate.busyPorts > 0;
    return {
      ...IDLE,
      id: record.id,
      task: 'move',
      choice: fits ? candidate : undefined,
      refusal: () => ({ ...NO_REFUSAL, hasBusyPorts }),
      templates: record.placement?.templates ?? [],
      message: record.status.message,
    };
  }

  #waitsOf(configuration: Configuration): readonly string[] {
    return configuration.waitsFor === undefined ? [] : (this.#options.waitsOf?.(configuration) ?? []);
  }

  /** `revision`: the hash of the configuration. */
  #shortlistOf(revision: string, configuration: Configuration): Shortlist {
    const shortlist =
      this.#shortlists.get(revision) ?? new Shortlist(this.#sources, questionOf(configuration));
    keepLatest(this.#shortlists, MOST_SHORTLISTS, revision, shortlist);
    return shortlist;
  }

  #candidatesOfMove({ id, placement, status }: InstanceRecord, question: Question): Candidate[] {
    const node = this.#options.nodes.get(placement?.nodeId ?? '')?.value;
    if (node === undefined) return [];
    // Ignore a cordon: the instance is already on the node, and only changes its port.
    const candidate = { ...candidateOf(this.#options, question, node), isCordoned: false };
    // All ports are looked for anew where the node did not say which one is busy.
    const busy = question.ports.find(({ group }) => group.some(({ name }) => name === status.busyPort));
    const ports = portsOf(placement ?? {}).filter(({ name }) => busy !== undefined && name !== busy.name);
    return [withPorts(this.#options, question, candidate, { ports, holder: id, isRetried: true })];
  }

  #candidates(question: Question, record?: InstanceRecord): Candidate[] {
    return [...this.#options.nodes.entries()].map(([nodeId, { value: node }]) => {
      const ports = record?.home?.nodeId === nodeId ? portsOf(record.home) : [];
      const old = { ports, ...(record?.static === true && { holder: record.id, isKept: true }) };
      return withPorts(this.#options, question, candidateOf(this.#options, question, node), old);
    });
  }

  #awaitedBy(shortlist: Shortlist, bound: string | null): Awaited {
    const forMs = this.#awaitUntil - this.#options.clock.monotonic();
    if (forMs <= 0) return NOBODY;
    const nodeIds = [...shortlist.awaited()];
    return { nodeIds: bound === null ? nodeIds : nodeIds.filter((nodeId) => nodeId === bound), forMs };
  }

  /**
   * True for a node that is expected back. It is not lost, and has not come back since this master started.
   * Or it has come back, and its record does not show that yet.
   */
  #isToCome({ nodeId, condition }: NodeRecord): boolean {
    const { beats } = this.#options;
    if (condition === 'lost') return false;
    if (beats.lastBeatAt(nodeId) === undefined) return true;
    return condition !== 'connected' && beats.contact(nodeId).isConnected;
  }
}

export function taskOf(record: InstanceRecord): PlacementFacts['task'] {
  if (record.desired.goal !== 'run') return null;
  if (record.placement === null) return 'place';
  const { reason, pid, keepsPort } = record.status;
  const isBusy = reason === 'port-busy' && keepsPort !== true && portsOf(record.placement).length > 0;
  return isBusy && pid === null ? 'move' : null;
}

const NOBODY: Awaited = { nodeIds: [], forMs: 0 };
const NO_REFUSAL: Refusal = { message: '', conditions: [], hasBusyPorts: false };
const IDLE: Omit<PlacementFacts, 'id'> = {
  task: null,
  choice: undefined,
  refusal: () => NO_REFUSAL,
  homeId: null,
  isUrgent: false,
  awaited: NOBODY,
  waits: [],
  templates: [],
  templateProblems: [],
  message: null,
};

/** The needs of an instance that moves to another port. RAM and CPU are 0, because it holds them already. */
function moveQuestionOf(configuration: Configuration): Question {
  return { ...questionOf(configuration), ramMB: 0, cpu: 0 };
}

function homeOf({ home, static: isBinding }: InstanceRecord): Needs['home'] {
  return home === null ? null : { nodeId: home.nodeId, isBinding };
}

/** The only node that may hold a static instance; null: any node may. */
function boundTo(record: InstanceRecord): string | null {
  return record.static ? (record.home?.nodeId ?? null) : null;
}
