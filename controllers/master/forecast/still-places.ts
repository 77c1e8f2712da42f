/**
 * Finds places for instances that do not exist yet, on the fleet as it is. It uses placement's shortlists over a ledger
 * of its own, in which a plan ends and places instances. Placement's own ledger stays untouched.
 */
import { DroverError } from '../../../src/model/errors.js';
import { type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { type InstanceContent, newInstance, withContent } from '../../../src/state/instance-changes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { Mirror, Mirrored, MirrorListener } from '../../../src/store/mirror.js';
import { losesFiles } from '../content/instance-updates.js';
import { placementAgain } from '../placement/again.js';
import type { Candidate } from '../placement/conditions.js';
import { FleetChanges } from '../placement/fleet-changes.js';
import { type LedgerInstances, PlacementLedger } from '../placement/ledger.js';
import { keptShortlists, type PlacesOptions } from '../placement/places.js';
import type { UpdateOutlook } from './plan.js';

export type StillPlacesOptions = StateRecords &
  Pick<PlacesOptions, 'busyPorts' | 'hostAddressOf' | 'chooseTemplates' | 'clock'>;

interface WaitingOutlook {
  readonly configurationName: string;
  readonly refusal: string | undefined;
}

export class StillPlaces {
  readonly #options: StillPlacesOptions;
  readonly #instances: StillInstances;
  readonly #ledger: PlacementLedger;
  readonly #shortlistOf: ReturnType<typeof keptShortlists>;
  /** The new content of each instance that no node holds, by id. */
  readonly #taken = new Map<string, InstanceContent>();
  #placed = 0;

  constructor(options: StillPlacesOptions) {
    const { nodes, busyPorts, hostAddressOf, clock } = options;
    const changes = new FleetChanges();
    this.#options = options;
    this.#instances = new StillInstances(options.instances);
    this.#ledger = new PlacementLedger(this.#instances, changes);
    this.#shortlistOf = keptShortlists({
      nodes,
      busyPorts,
      hostAddressOf,
      changes,
      ledger: this.#ledger,
      now: () => clock.monotonic(),
      isAwaited: () => false,
    });
  }

  /** Ends an instance and frees its place; a static instance keeps its port. */
  end(id: string): void {
    this.#instances.end(id);
  }

  /**
   * Places instances that already wait for a node, before any new ones. Returns the outlook of each that takes another
   * content: `refusal` says why no node fits; undefined: it has a place.
   */
  placeWaiting(): WaitingOutlook[] {
    const outlooks: WaitingOutlook[] = [];
    for (const [id] of this.#options.instances.entries()) {
      const record = this.#instances.get(id)?.value;
      if (record?.desired.goal !== 'run' || record.placement !== null) continue;
      const taken = this.#taken.get(id);
      const configuration = taken?.configuration ?? this.#options.revisions.get(record.revision)?.value;
      if (configuration === undefined) continue;
      const { home, configurationName } = record;
      const shortlist = this.#shortlistOf(taken?.hash ?? record.revision, configuration);
      const atHome = home === null ? undefined : shortlist.at(home.nodeId, home.port);
      const bound = record.static ? (home?.nodeId ?? null) : null;
      const place = atHome ?? (bound === null ? shortlist.best() : undefined);
      if (place !== undefined) this.#hold(taken === undefined ? record : withContent(record, taken), place);
      const refusal = place === undefined ? shortlist.refusal(bound).message : undefined;
      if (taken !== undefined) outlooks.push({ configurationName, refusal });
    }
    return outlooks;
  }

  /** Places one more instance. Returns why no node fits; undefined: the instance has a place. */
  place(content: InstanceContent): string | undefined {
    const { configuration, hash } = content;
    const { problems } = this.#options.chooseTemplates(configuration, '');
    if (problems.length > 0) return problems.join('; ');
    const shortlist = this.#shortlistOf(hash, configuration);
    const place = shortlist.best();
    if (place === undefined) return shortlist.refusal(null).message;
    // No real id has a colon.
    const id = `new:${this.#placed++}`;
    this.#hold(newInstance(content, { id, madeBy: 'enforcer', now: this.#options.clock.now() }), place);
    return undefined;
  }

  /** Gives an instance another content in place, as `InstanceUpdates` would. The instance then holds its new place. */
  update(before: InstanceRecord, content: InstanceContent): UpdateOutlook {
    if (losesFiles(before, content)) return { refusal: 'its directory would not be kept any more' };
    if (before.placement === null || isAtRest(before)) {
      this.#taken.set(before.id, content);
      return 'taken';
    }
    const next = withContent(before, content);
    const sources = { ...this.#options, ledger: this.#ledger };
    try {
      this.#ledger.promise(next, placementAgain(sources, { before, next, content }));
      return before.desired.goal === 'run' ? 'restarted' : 'taken';
    } catch (error) {
      if (!DroverError.is(error, 'DRV_UPDATE_REFUSED')) throw error;
      return { refusal: error.message };
    }
  }

  #hold(record: InstanceRecord, { nodeId, port, hostAddress }: Candidate): void {
    this.#ledger.promise(record, { nodeId, port: port ?? null, hostAddress, templates: [] });
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
