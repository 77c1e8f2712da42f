/**
 * Answers which content new instances get: the content of the configuration's file, or the last good content while a
 * rollout holds the file's content back. Creation, updates in place, replacements and rollouts ask here, so that all
 * agree.
 */
import type { Configuration, ConfigurationContent } from '../model/configuration.js';
import { type FieldPlace, sameProcess } from '../model/field-class.js';
import type { InstanceRecord } from '../model/instance.js';
import { isHeldBack, type RolloutRecord, revisionForNew, targetOf } from '../model/rollout.js';
import { NO_UPDATE } from '../model/update.js';
import type { StateRecords } from './master-state.js';

/** A content, and the rollout generation of instances made from it. */
export interface ContentInForce extends ConfigurationContent {
  readonly generation: number;
}

type ContentSources = Pick<StateRecords, 'configurations' | 'revisions' | 'rollouts'>;

export class ContentsInForce {
  readonly #sources: ContentSources;
  /**
   * The comparisons of each content, by revision. A fleet has many instances of few contents, and one comparison takes
   * some 40 µs. They go with the content, so that those of a plan do not stay.
   */
  readonly #compared = new WeakMap<Configuration, Map<string, ReturnType<typeof sameProcess>>>();

  constructor(sources: ContentSources) {
    this.#sources = sources;
  }

  /**
   * The content of new instances, except those that the rollout itself makes. Undefined: there is no such
   * configuration.
   */
  of(name: string): ContentInForce | undefined {
    const record = this.#sources.configurations.get(name)?.value;
    const rollout = this.#sources.rollouts.get(name)?.value;
    if (record === undefined) return undefined;
    if (rollout === undefined) return { ...record, generation: 0 };
    return this.#content(record, this.#revisionOf(record, rollout), rollout.generation);
  }

  /**
   * The content that new instances would get in the end under `record` and `rollout`; neither need be stored. Assumes
   * that canaries turn out good, but that nobody promotes by hand. Plans use this.
   */
  expectedUnder(record: ConfigurationContent, rollout: RolloutRecord | undefined): ContentInForce {
    if (rollout === undefined) return { ...record, generation: 0 };
    const isPromoted = !isHeldBack(rollout) && record.configuration.update?.promote === 'auto';
    const revision = isPromoted ? record.hash : this.#revisionOf(record, rollout);
    return this.#content(record, revision, rollout.generation);
  }

  /** The content that the rollout of a configuration brings its instances to. Undefined: there is no rollout. */
  targetOf(name: string): ContentInForce | undefined {
    const record = this.#sources.configurations.get(name)?.value;
    const rollout = this.#sources.rollouts.get(name)?.value;
    return record === undefined || rollout === undefined ? undefined : this.targetUnder(record, rollout);
  }

  /** Like `targetOf`, for a content and a rollout that need not be stored. Plans use this. */
  targetUnder(record: ConfigurationContent, rollout: RolloutRecord): ContentInForce {
    return this.#content(record, targetOf(rollout), rollout.generation);
  }

  /**
   * True when the content differs from the rollout's content (`rollout.to`) in a field that does not apply to a
   * running process.
   */
  isNews({ configuration, hash }: ConfigurationContent, rollout: RolloutRecord): boolean {
    return rollout.to !== hash && !this.#isSameProcess(rollout.to, configuration);
  }

  /** True when an instance needs no restart for a content, because the changed fields all apply to a running process. */
  isLive({ revision, placement }: InstanceRecord, { configuration, hash }: ConfigurationContent): boolean {
    return hash === revision || this.#isSameProcess(revision, configuration, placement ?? undefined);
  }

  #isSameProcess(revision: string, configuration: Configuration, place?: FieldPlace): boolean {
    const compared = this.#compared.get(configuration) ?? new Map();
    const known = compared.get(revision);
    if (known !== undefined) return known(place);
    const made = this.#sources.revisions.get(revision)?.value;
    if (made === undefined) return false;
    const isSame = sameProcess(made, configuration);
    this.#compared.set(configuration, compared.set(revision, isSame));
    return isSame(place);
  }

  #revisionOf(record: ConfigurationContent, rollout: RolloutRecord): string {
    const { strategy, canary } = record.configuration.update ?? NO_UPDATE;
    if (!this.isNews(record, rollout)) {
      const isOfFile =
        revisionForNew(rollout) === rollout.to || (strategy === 'manual' && !isHeldBack(rollout));
      return isOfFile ? record.hash : revisionForNew(rollout);
    }
    // A rollout of `record` is about to begin: if it has canaries, only they get the new content.
    return strategy !== 'manual' && canary > 0 ? (lastGoodOf(rollout) ?? record.hash) : record.hash;
  }

  /** The content with this hash. When its revision cannot be read: the content of the file. */
  #content(record: ConfigurationContent, hash: string, generation: number): ContentInForce {
    const configuration = hash === record.hash ? undefined : this.#sources.revisions.get(hash)?.value;
    if (configuration === undefined)
      return { configuration: record.configuration, hash: record.hash, generation };
    return { configuration, hash, generation };
  }
}

/** The last good content, on which the next rollout falls back. */
export function lastGoodOf({ state, from, to }: Pick<RolloutRecord, 'state' | 'from' | 'to'>): string | null {
  return state === 'complete' ? to : from;
}
