/**
 * The ports that instances hold on one node or under one host address: who holds which, and which are free. Several
 * hold a port that they share.
 */

interface PortRange {
  readonly min: number;
  readonly max: number;
}

/** How many ports the bits of one word stand for. */
const WORD_BITS = 32;

export class HeldPorts {
  readonly #holders = new Map<number, string>();
  /** The further holders of a port. */
  readonly #others = new Map<number, Set<string>>();
  /**
   * A bit for each held port, so that a search passes over 32 ports at once. The first word is number `#first`. Signed,
   * because Node makes a heap object of an unsigned word whose last bit is set.
   */
  #words = new Int32Array(0);
  #first = 0;

  ports(): Iterable<number> {
    return this.#holders.keys();
  }

  /** A holder of the port other than `except`. */
  holderOf(port: number, except: string): string | undefined {
    const holder = this.#holders.get(port);
    return holder === except ? this.#others.get(port)?.values().next().value : holder;
  }

  hold(port: number, id: string): void {
    const holder = this.#holders.get(port) ?? id;
    if (holder !== id) this.#others.set(port, (this.#others.get(port) ?? new Set()).add(id));
    this.#holders.set(port, holder);
    const index = this.#cover(Math.floor(port / WORD_BITS));
    this.#words[index] = this.wordAt(index + this.#first) | (1 << (port % WORD_BITS));
  }

  /** Frees the port, unless others hold it too. */
  release(port: number, id: string): void {
    const others = this.#others.get(port);
    const isHolder = this.#holders.get(port) === id;
    const next = isHolder ? others?.values().next().value : id;
    if (next !== undefined) {
      others?.delete(next);
      if (others?.size === 0) this.#others.delete(port);
      if (isHolder) this.#holders.set(port, next);
      return;
    }
    this.#holders.delete(port);
    const word = Math.floor(port / WORD_BITS);
    this.#words[word - this.#first] = this.wordAt(word) & ~(1 << (port % WORD_BITS));
  }

  /** The bits of the ports `32 * word` to `32 * word + 31`. */
  wordAt(word: number): number {
    return this.#words[word - this.#first] ?? 0;
  }

  /** Makes room for a word; returns its index. Grows to both sides, because ranges are given out from below. */
  #cover(word: number): number {
    const length = this.#words.length;
    if (word >= this.#first && word < this.#first + length) return word - this.#first;
    const first = length === 0 ? word : Math.min(word, this.#first);
    const end = Math.max(word + 1, this.#first + length);
    const grown = new Int32Array(length === 0 ? 1 : Math.max(end - first, 2 * length));
    grown.set(this.#words, length === 0 ? 0 : this.#first - first);
    this.#words = grown;
    this.#first = first;
    return word - first;
  }
}

/** The lowest port of a range that is free in all scopes and that `isBusy` does not refuse; undefined: none. */
export function lowestFree(
  scopes: readonly HeldPorts[],
  range: PortRange,
  isBusy: (port: number) => boolean,
): number | undefined {
  for (let word = Math.floor(range.min / WORD_BITS); word * WORD_BITS <= range.max; word++)
    for (let free = freeBits(scopes, range, word); free !== 0; free &= free - 1) {
      const port = word * WORD_BITS + (31 - Math.clz32(free & -free));
      if (!isBusy(port)) return port;
    }
  return undefined;
}

/** How many ports of a range are free in all scopes; counted up to `most`, or a few more. */
export function countFree(scopes: readonly HeldPorts[], range: PortRange, most: number): number {
  let count = 0;
  for (let word = Math.floor(range.min / WORD_BITS); word * WORD_BITS <= range.max && count < most; word++)
    for (let free = freeBits(scopes, range, word); free !== 0; free &= free - 1) count++;
  return count;
}

function freeBits(scopes: readonly HeldPorts[], { min, max }: PortRange, word: number): number {
  let taken = 0;
  for (const scope of scopes) taken |= scope.wordAt(word);
  const below = min - word * WORD_BITS;
  const above = max - word * WORD_BITS;
  let free = ~taken;
  if (below > 0) free &= -1 << below;
  if (above < WORD_BITS - 1) free &= (2 << above) - 1;
  return free;
}
