/**
 * Answers what instances are made from: the content of the configuration's file, or the last good one while a rollout
 * holds that back. Creation, placement's outlook and rollouts ask here, so that all agree.
 */
import type { Configuration, ConfigurationContent, ConfigurationRecord } from '../model/configuration.js';
import { isHeldBack, isSameProcess, type RolloutRecord, revisionForNew, targetOf } from '../model/rollout.js';
import { NO_UPDATE } from '../model/update.js';
import type { MirrorReader } from '../store/mirror.js';

/** A content, and the generation of the rollout that an instance made from it belongs to. */
export interface ContentInForce extends ConfigurationContent {
  readonly generation: number;
}

interface ContentSources {
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly revisions: MirrorReader<Configuration>;
  readonly rollouts: MirrorReader<RolloutRecord>;
}

export class ContentsInForce {
  readonly #sources: ContentSources;

  constructor(sources: ContentSources) {
    this.#sources = sources;
  }

  /** The content that everybody but a rollout makes new instances from. Undefined: there is no such configuration. */
  of(name: string): ContentInForce | undefined {
    const record = this.#sources.configurations.get(name)?.value;
    const rollout = this.#sources.rollouts.get(name)?.value;
    if (record === undefined) return undefined;
    if (rollout === undefined) return { ...record, generation: 0 };
    return this.#content(record, this.#revisionOf(record, rollout), rollout.generation);
  }

  /**
   * What new instances are made from in the end when a content is in force that need not be stored: canaries are good, but
   * where a person promotes them nobody has yet. Plans ask so.
   */
  expectedUnder(record: ConfigurationContent): ContentInForce {
    const rollout = this.#sources.rollouts.get(record.configuration.name)?.value;
    if (rollout === undefined) return { ...record, generation: 0 };
    const isPromoted = !this.isHeldBackUnder(record) && record.configuration.update?.promote === 'auto';
    const revision = isPromoted ? record.hash : this.#revisionOf(record, rollout);
    return this.#content(record, revision, rollout.generation);
  }

  /** Whether a rollout would hold back a content that need not be stored. */
  isHeldBackUnder(record: ConfigurationContent): boolean {
    const rollout = this.#sources.rollouts.get(record.configuration.name)?.value;
    return rollout !== undefined && isHeldBack(rollout) && !this.isNews(record, rollout);
  }

  /** The content that the rollout of a configuration brings its instances to. Undefined: there is no rollout. */
  targetOf(name: string): ContentInForce | undefined {
    const record = this.#sources.configurations.get(name)?.value;
    const rollout = this.#sources.rollouts.get(name)?.value;
    return record === undefined || rollout === undefined ? undefined : this.targetUnder(record, rollout);
  }

  /** The same for a content and a rollout that need not be stored: plans ask so. */
  targetUnder(record: ConfigurationContent, rollout: RolloutRecord): ContentInForce {
    return this.#content(record, targetOf(rollout), rollout.generation);
  }

  /** Whether the file says another content than the rollout has taken up: more than fields that hold without a restart. */
  isNews({ configuration, hash }: ConfigurationContent, rollout: RolloutRecord): boolean {
    if (rollout.to === hash) return false;
    const taken = this.#sources.revisions.get(rollout.to)?.value;
    return taken === undefined || !isSameProcess(taken, configuration);
  }

  #revisionOf(record: ConfigurationContent, rollout: RolloutRecord): string {
    const { strategy, canary } = record.configuration.update ?? NO_UPDATE;
    if (!this.isNews(record, rollout)) {
      const isOfFile =
        revisionForNew(rollout) === rollout.to || (strategy === 'manual' && !isHeldBack(rollout));
      return isOfFile ? record.hash : revisionForNew(rollout);
    }
    // A rollout is about to begin: with canaries only these are made from the new content.
    return strategy !== 'manual' && canary > 0 ? (lastGoodOf(rollout) ?? record.hash) : record.hash;
  }

  /** A content that cannot be read is none: then it is that of the file. */
  #content(record: ConfigurationContent, hash: string, generation: number): ContentInForce {
    const configuration = hash === record.hash ? undefined : this.#sources.revisions.get(hash)?.value;
    if (configuration === undefined)
      return { configuration: record.configuration, hash: record.hash, generation };
    return { configuration, hash, generation };
  }
}

/** The content that a next rollout falls back on. */
export function lastGoodOf({ state, from, to }: Pick<RolloutRecord, 'state' | 'from' | 'to'>): string | null {
  return state === 'complete' ? to : from;
}
