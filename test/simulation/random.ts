/**
 * The one source of chance of a simulation: a small generator (xoshiro128**) seeded by text. Streams are forked by
 * name, never by drawing, so one part's draws do not change another's.
 */

/** FNV-1a with a final mix, so that seeds that differ in one digit give unlike streams. */
function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

export class Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#a = hash(seed, 1);
    this.#b = hash(seed, 2);
    this.#c = hash(seed, 3);
    this.#d = hash(seed, 4) | 1;
  }

  /** A stream of its own, the same for the same name however much was drawn here. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** In [0, 1). */
  readonly next = (): number => {
    const scrambled = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotate(this.#d, 11);
    return scrambled / 2 ** 32;
  };

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** A number in [from, to). */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the values, each as likely. */
  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }

  /** One of the values, by weight. */
  weighted<T>(choices: readonly [readonly [number, T], ...(readonly [number, T])[]]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    return choices[0][1];
  }
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
