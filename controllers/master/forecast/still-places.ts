/**
 * Finds places for instances that do not exist yet, on the fleet as it is. It asks placement's own decision over a ledger
 * of its own, in which a plan ends and places instances. Placement's ledger stays untouched.
 */

import type { Pace } from '../../../src/loop/pace.js';
import type { Configuration } from '../../../src/model/configuration.js';
import { type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { type InstanceContent, newInstance, withContent } from '../../../src/state/instance-changes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { Mirror, Mirrored, MirrorListener } from '../../../src/store/mirror.js';
import { losesFiles } from '../content/instance-updates.js';
import { placeOrRefusal } from '../placement/again.js';
import { type Question, questionOf } from '../placement/candidates.js';
import { FleetChanges } from '../placement/fleet-changes.js';
import { type LedgerInstances, PlacementLedger } from '../placement/ledger.js';
import { Places, type PlacesOptions } from '../placement/places.js';
import { plan } from '../placement/plan.js';
import type { UpdateOutlook } from './plan.js';

export type StillPlacesOptions = StateRecords &
  Pick<PlacesOptions, 'beats' | 'busyPorts' | 'hostAddressOf' | 'chooseTemplates' | 'clock'>;

interface WaitingOutlook {
  readonly configurationName: string;
  readonly refusal: string | undefined;
}

export class StillPlaces {
  readonly #options: StillPlacesOptions;
  readonly #instances: StillInstances;
  readonly #ledger: PlacementLedger;
  readonly #places: Places;
  /** The contents of the plan, by hash. They need not be stored as revisions yet. */
  readonly #contents = new Map<string, Configuration>();
  /** The content that an instance without a place, or at rest, takes at its next start, by instance id. */
  readonly #taken = new Map<string, InstanceContent>();
  /** The needs of the contents, by hash. */
  readonly #questions = new Map<string, Question>();
  #placed = 0;

  constructor(options: StillPlacesOptions) {
    const changes = new FleetChanges();
    this.#options = options;
    this.#instances = new StillInstances(options.instances);
    this.#ledger = new PlacementLedger(this.#instances, changes);
    this.#places = new Places({
      ...options,
      instances: this.#instances,
      revisions: { get: (hash) => this.#revision(hash) },
      changes,
      ledger: this.#ledger,
    });
  }

  /** Ends an instance and frees its place; a static instance keeps its port. */
  end(id: string): void {
    this.#instances.end(id);
  }

  /**
   * Places the instances that already wait for a node. Call it before new ones are placed. Returns an outlook
   * for each that takes another content: `refusal` says why no node fits; undefined: it has a place.
   */
  async placeWaiting(pace: Pace): Promise<WaitingOutlook[]> {
    const outlooks: WaitingOutlook[] = [];
    for (const [id] of this.#options.instances.entries()) {
      if (pace.isOver) await pace.rest();
      const record = this.#instances.get(id)?.value;
      if (record?.desired.goal !== 'run' || record.placement !== null) continue;
      const taken = this.#taken.get(id);
      const refusal = this.#place(taken === undefined ? record : withContent(record, taken));
      if (taken !== undefined) outlooks.push({ configurationName: record.configurationName, refusal });
    }
    return outlooks;
  }

  /** Places one more instance. Returns why no node fits; undefined: the instance has a place. */
  place(content: InstanceContent): string | undefined {
    this.#contents.set(content.hash, content.configuration);
    // Ids of real instances contain no colon, so this id is free.
    const id = `new:${this.#placed++}`;
    return this.#place(newInstance(content, { id, madeBy: 'enforcer', now: this.#options.clock.now() }));
  }

  /** Gives an instance another content in place, as `InstanceUpdates` would. The instance then holds its new place. */
  update(before: InstanceRecord, content: InstanceContent): UpdateOutlook {
    if (losesFiles(before, content)) return { refusal: 'its directory would not be kept any more' };
    if (before.placement === null || isAtRest(before)) {
      this.#taken.set(before.id, content);
      this.#contents.set(content.hash, content.configuration);
      return 'taken';
    }
    const sources = { ...this.#options, ledger: this.#ledger };
    const placement = placeOrRefusal(sources, { before, content }, this.#questionOf(content));
    if (typeof placement === 'string') return { refusal: placement };
    this.#ledger.promise(withContent(before, content), placement);
    return before.desired.goal === 'run' ? 'restarted' : 'taken';
  }

  #questionOf({ configuration, hash }: InstanceContent): Question {
    const question = this.#questions.get(hash) ?? questionOf(configuration);
    this.#questions.set(hash, question);
    return question;
  }

  #place(record: InstanceRecord): string | undefined {
    const [step] = plan({ ...this.#places.factsOfRecord(record), message: null }).steps;
    if (step?.do !== 'place') return step?.message;
    this.#ledger.promise(record, step.placement);
    return undefined;
  }

  #revision(hash: string): Mirrored<Configuration> | undefined {
    const value = this.#contents.get(hash);
    return value === undefined ? this.#options.revisions.get(hash) : { value, revision: 0 };
  }
}

/** The present instances, without those that a plan ends. */
class StillInstances implements LedgerInstances {
  readonly #instances: Mirror<InstanceRecord>;
  /** The remaining record of each ended instance; undefined: the instance is removed. */
  readonly #ended = new Map<string, Mirrored<InstanceRecord> | undefined>();
  #listener: MirrorListener<InstanceRecord> = () => undefined;

  constructor(instances: Mirror<InstanceRecord>) {
    this.#instances = instances;
  }

  get setAside(): LedgerInstances['setAside'] {
    return this.#instances.setAside;
  }

  get(id: string): Mirrored<InstanceRecord> | undefined {
    return this.#ended.has(id) ? this.#ended.get(id) : this.#instances.get(id);
  }

  entries(): ReturnType<LedgerInstances['entries']> {
    return this.#instances.entries();
  }

  /** Sets the only listener, the ledger, which hears of ended instances only. */
  onChange(listener: MirrorListener<InstanceRecord>): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  /** Ends an instance: a static one is stopped and keeps its port, any other is removed. */
  end(id: string): void {
    const before = this.#instances.get(id);
    const after = before?.value.static === true ? { ...before, value: stopped(before.value) } : undefined;
    this.#ended.set(id, after);
    this.#listener(id, after, before);
  }
}

function stopped({ desired, status, ...record }: InstanceRecord): InstanceRecord {
  return {
    ...record,
    desired: { ...desired, goal: 'stop' },
    status: { ...status, state: 'STOPPED', pid: null, reason: 'stopped' },
  };
}
