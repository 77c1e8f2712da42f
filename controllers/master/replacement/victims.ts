/** Gathers the facts of moves: an instance, its replacement, and what would become of one more instance. */

import type { Configuration } from '../../../src/model/configuration.js';
import { byAge, hasFinished, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { durationText } from '../../../src/model/plain/duration-text.js';
import { wantedOf } from '../../../src/state/left-of-record.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { BUSY_FOR_MS } from '../placement/busy-ports.js';
import type { PlacementOutlook } from '../placement/places.js';
import type { Original, Outlook, Replacement, Victim } from './facts.js';

interface VictimsOptions extends StateRecords {
  /** Tells whether one more instance of the configuration fits anywhere. `hash`: the hash of its content. */
  readonly outlookOf: (hash: string, configuration: Configuration) => PlacementOutlook;
  /** How long the next instance of a configuration waits (ms) because the last new ones failed young; 0: no wait. */
  readonly delayOf: (configurationName: string) => number;
}

export class Victims {
  readonly #options: VictimsOptions;

  constructor(options: VictimsOptions) {
    this.#options = options;
  }

  /** Makes victims of the instances that a caller wants moved, in order of age. Instances at rest need no move. */
  gather(ids: Iterable<string>): Victim[] {
    const outlooks = new Map<string, Outlook>();
    return [...ids]
      .flatMap((id) => this.#options.instances.get(id)?.value ?? [])
      .filter((record) => !isAtRest(record))
      .toSorted(byAge)
      .map((record) => this.#victim(record, outlooks));
  }

  originalOf(record: InstanceRecord): Original {
    const { id, desired, status } = record;
    const players = status.players ?? 0;
    return {
      id,
      maker: record.madeBy,
      goal: desired.goal === 'run' ? 'run' : 'ending',
      isUp: status.state === 'ONLINE' || players > 0 || hasFinished(record),
      players,
      replacement: this.replacementsOf(id)[0],
    };
  }

  /** The replacements of an instance that are wanted and not on a lost node, in order of age. */
  replacementsOf(id: string): Replacement[] {
    const { instances, replacements } = this.#options;
    return [...replacements.get(id)]
      .flatMap((other) => instances.get(other)?.value ?? [])
      .filter(({ desired, status }) => desired.goal === 'run' && status.reason !== 'node-lost')
      .toSorted(byAge)
      .map(toReplacement);
  }

  #victim(record: InstanceRecord, outlooks: Map<string, Outlook>): Victim {
    const { configurationName, replaces } = record;
    const original = this.originalOf(record);
    const needsOutlook = original.replacement === undefined && original.goal === 'run' && !record.static;
    const ofRun = record.job && { ...NO_OUTLOOK, obstacle: 'a run of a job is not repeated elsewhere' };
    const resting = needsOutlook ? this.#restingReplacementOf(record.id) : undefined;
    return {
      ...original,
      configurationName,
      static: record.static,
      spareFor: replaces !== undefined && this.#isStanding(replaces) ? replaces : null,
      outlook: needsOutlook ? (ofRun ?? resting ?? this.#outlookOf(configurationName, outlooks)) : NO_OUTLOOK,
    };
  }

  /**
   * The outlook of a victim whose static replacement is stopped; undefined: it has none. Such a replacement
   * keeps its place and files. No further one is made, because it might be stopped and kept, too, without
   * end.
   */
  #restingReplacementOf(id: string): Outlook | undefined {
    const { instances, replacements } = this.#options;
    const resting = [...replacements.get(id)].find((other) => {
      const record = instances.get(other)?.value;
      return record?.static === true && record.desired.goal === 'stop';
    });
    return resting === undefined ? undefined : { ...NO_OUTLOOK, obstacle: restingText(resting) };
  }

  #isStanding(id: string): boolean {
    const record = this.#options.instances.get(id)?.value;
    if (record?.desired.goal !== 'run' || record.placement === null) return false;
    return record.status.reason !== 'node-lost';
  }

  /** The outlook of a configuration, found once for all its instances. */
  #outlookOf(name: string, outlooks: Map<string, Outlook>): Outlook {
    const outlook = outlooks.get(name) ?? this.lookAround(name);
    outlooks.set(name, outlook);
    return outlook;
  }

  /** The outlook of one more instance of a configuration. Default: with the content for new instances. */
  lookAround(name: string, content = this.#options.contents.of(name)): Outlook {
    const record = this.#options.configurations.get(name)?.value;
    if (record === undefined || content === undefined) return NO_CONFIGURATION;
    const { maximumServiceCount: maximum } = record.configuration;
    const isAtMaximum = maximum !== undefined && wantedOf(this.#options, name) >= maximum;
    const delayMs = this.#options.delayOf(name);
    if (delayMs > 0)
      return { obstacle: delayText(delayMs), recheckInMs: delayMs, isDelayed: true, isAtMaximum };
    const { obstacle, hasBusyPorts } = this.#options.outlookOf(content.hash, content.configuration);
    return { obstacle, recheckInMs: hasBusyPorts ? BUSY_FOR_MS : null, isDelayed: false, isAtMaximum };
  }
}

function delayText(delayMs: number): string {
  return `its last new instances did not last a minute; the next one is made in ${durationText(delayMs)}`;
}

function restingText(id: string): string {
  return `its replacement ${id} is static and stopped; another one is made once that is started or deleted`;
}

function toReplacement(record: InstanceRecord): Replacement {
  const { id, placement, status } = record;
  const { state, message, players, awaitsReport } = status;
  return {
    id,
    maker: record.madeBy,
    state,
    isUp: (state === 'ONLINE' && awaitsReport === undefined) || hasFinished(record),
    message,
    players: players ?? 0,
    isAnswered: placement !== null || message !== null,
  };
}

const NO_OUTLOOK: Outlook = { obstacle: null, recheckInMs: null, isDelayed: false, isAtMaximum: false };
const NO_CONFIGURATION: Outlook = {
  ...NO_OUTLOOK,
  obstacle: 'its configuration was removed, so nothing can replace it; delete it when it is not needed',
};
