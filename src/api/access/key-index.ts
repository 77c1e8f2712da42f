/**
 * Finds API keys by token. It follows the mirror of the keys, so that a revoked key is refused as soon as the
 * mirror shows it. Used by the gate only.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { ApiKeyRecord, KeyScope } from '../../model/api-key.js';
import type { MirrorReader } from '../../store/mirror.js';

/** A key as the caller of requests: one object for all requests of the key. */
export interface KeyActor {
  readonly kind: 'key';
  readonly label: string;
  readonly scope: KeyScope;
}

interface IndexedKey {
  readonly actor: KeyActor;
  /** The hex digits of the hash, as ASCII bytes. */
  readonly digits: Buffer;
}

/** Keys are looked up by this many digits of their hash. Whole hashes are compared in constant time only. */
const GROUP_DIGITS = 12;
/** More tokens than are in use at a time. At the limit all are forgotten and looked up again. */
const MAX_RECENT = 256;

export class KeyIndex {
  readonly #groups = new Map<string, readonly IndexedKey[]>();
  /**
   * The keys of tokens that were found lately, by token: hashing a token each time took a tenth of a whole request.
   * Every change of any key empties the map, so that a revoked key is refused at once. Wrong tokens never get in,
   * and the map's own hash is seeded, so that the time of a look-up gives nothing away.
   */
  readonly #recent = new Map<string, KeyActor>();
  readonly #unsubscribe: () => void;

  /** Calls `onRemoved` with the label of each key that was deleted, or replaced by another key of the same label. */
  constructor(keys: MirrorReader<ApiKeyRecord>, onRemoved: (label: string) => void) {
    for (const [, { value }] of keys.entries()) this.#add(value);
    this.#unsubscribe = keys.onChange((label, after, before) => {
      this.#recent.clear();
      if (before !== undefined) this.#remove(before.value);
      if (after !== undefined) this.#add(after.value);
      if (before !== undefined && !isSameKey(before.value, after?.value)) onRemoved(label);
    });
  }

  /** Returns the key of this token, or undefined. */
  find(token: string): KeyActor | undefined {
    const recent = this.#recent.get(token);
    if (recent !== undefined) return recent;
    const actor = this.#lookUp(token);
    if (actor === undefined) return undefined;
    if (this.#recent.size >= MAX_RECENT) this.#recent.clear();
    this.#recent.set(token, actor);
    return actor;
  }

  /** Stops following the keys. Idempotent. */
  close(): void {
    this.#unsubscribe();
  }

  #lookUp(token: string): KeyActor | undefined {
    // Hex text, not a buffer: `hash` takes three times as long to return one.
    const digest = hash('sha256', token, 'hex');
    const group = this.#groups.get(digest.slice(0, GROUP_DIGITS));
    if (group === undefined) return undefined;
    const digits = Buffer.from(digest, 'latin1');
    return group.find((key) => timingSafeEqual(key.digits, digits))?.actor;
  }

  #add({ label, scope, hash: digest }: ApiKeyRecord): void {
    const key: IndexedKey = { actor: { kind: 'key', label, scope }, digits: Buffer.from(digest, 'latin1') };
    const name = digest.slice(0, GROUP_DIGITS);
    this.#groups.set(name, [...(this.#groups.get(name) ?? []), key]);
  }

  #remove({ label, hash: digest }: ApiKeyRecord): void {
    const name = digest.slice(0, GROUP_DIGITS);
    const rest = this.#groups.get(name)?.filter((key) => key.actor.label !== label) ?? [];
    if (rest.length > 0) this.#groups.set(name, rest);
    else this.#groups.delete(name);
  }
}

function isSameKey(before: ApiKeyRecord, after: ApiKeyRecord | undefined): boolean {
  return before.hash === after?.hash && before.scope === after.scope;
}
