/**
 * Limits how many exchanges with clients are on their way to the leader at once. Callers that are no key holders have
 * shares, so that they cannot take the places of key holders, or of each other.
 */
import { connectionsWithin } from '../../files/open-files.js';
import { addressBlockOf } from '../../loop/address-block.js';
import type { Actor } from '../gate/auth.js';

/** The limit for all: many clients that follow something take one place each. */
const MOST = 1024;

interface Share {
  /** The part of the limit for all callers of this kind together. */
  readonly part: number;
  /** The part for one address, or for one instance. */
  readonly partOfOne: number;
  /** The callers, in a sentence for a person. */
  readonly whose: string;
}

const STRANGERS: Share = { part: 1 / 8, partOfOne: 1 / 32, whose: 'requests without an API key' };
const INSTANCES: Share = { part: 1 / 4, partOfOne: 1 / 128, whose: 'requests of instances' };

export interface Place {
  /** Frees the place. Idempotent. */
  leave(): void;
}

export class Places {
  readonly #most = connectionsWithin(1 / 2, MOST);
  #taken = 0;
  readonly #shares = new Map<Share, { taken: number; readonly byOne: Map<string, number> }>();

  /**
   * Takes a place for one exchange. `caller`: null for a stranger; `address`: of the client. Returns a sentence for the
   * client when there is none.
   */
  take(caller: Actor | null, address: string): Place | string {
    if (caller?.kind === 'key') return this.takeAny();
    const share = caller === null ? STRANGERS : INSTANCES;
    const one = caller === null ? addressBlockOf(address) : caller.instanceId;
    const counts = this.#shares.get(share) ?? { taken: 0, byOne: new Map<string, number>() };
    this.#shares.set(share, counts);
    const ofOne = counts.byOne.get(one) ?? 0;
    if (counts.taken >= this.#most * share.part || ofOne >= this.#most * share.partOfOne)
      return `too many ${share.whose} are on their way to the leader: try again`;
    const place = this.takeAny();
    if (typeof place === 'string') return place;
    counts.taken++;
    counts.byOne.set(one, ofOne + 1);
    return once(() => {
      place.leave();
      counts.taken--;
      const left = (counts.byOne.get(one) ?? 1) - 1;
      if (left === 0) counts.byOne.delete(one);
      else counts.byOne.set(one, left);
    });
  }

  /** Takes a place that counts for no share: of a key holder, or of a request that another master has forwarded. */
  takeAny(): Place | string {
    if (this.#taken >= this.#most)
      return `${this.#most} requests are on their way to the leader, the limit: try again`;
    this.#taken++;
    return once(() => this.#taken--);
  }
}

function once(free: () => void): Place {
  let isFree = false;
  return {
    leave: () => {
      if (isFree) return;
      isFree = true;
      free();
    },
  };
}
