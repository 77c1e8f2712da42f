/** Keeps a shortlist for each revision that was asked about lately: all instances of a revision ask the same question. */
import type { Configuration } from '../../../src/model/configuration.js';
import { questionOf } from './candidates.js';
import { Shortlist, type ShortlistSources } from './shortlist.js';

/** How many shortlists are kept: each holds an entry for every node. A dropped one is made anew. */
const MOST_KEPT = 64;

export class Shortlists {
  readonly #sources: ShortlistSources;
  /** The shortlists by revision; the one that was asked last comes last. */
  readonly #kept = new Map<string, Shortlist>();

  constructor(sources: ShortlistSources) {
    this.#sources = sources;
  }

  /** `revision`: the hash of the configuration. */
  of(revision: string, configuration: Configuration): Shortlist {
    const shortlist = this.#kept.get(revision) ?? new Shortlist(this.#sources, questionOf(configuration));
    this.#kept.delete(revision);
    this.#kept.set(revision, shortlist);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return shortlist;
  }
}
