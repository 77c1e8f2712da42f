/**
 * API keys by token: an index over the keys mirror, so that a revoked key is gone the moment the mirror sees it.
 * Used by the gate only.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { ApiKeyRecord, KeyScope } from '../../model/api-key.js';
import type { MirrorReader } from '../../store/mirror.js';

/** Who holds a key. One object per key, shared by all its requests. */
export interface KeyActor {
  readonly kind: 'key';
  readonly label: string;
  readonly scope: KeyScope;
}

interface IndexedKey {
  readonly actor: KeyActor;
  /** The hex digits of the hash, as bytes. */
  readonly digits: Buffer;
}

/** Digits by which keys are grouped: whole hashes are only ever compared in constant time. */
const GROUP_DIGITS = 12;
/** More tokens than are in use at a time; at the limit all are looked up anew. */
const MAX_RECENT = 256;

export class KeyIndex {
  readonly #groups = new Map<string, readonly IndexedKey[]>();
  /**
   * Right tokens of late: hashing them again cost a tenth of a whole request. Emptied by every change of any key, so
   * that a revoked one is refused at once. A wrong token never gets in, and the map's own hash is seeded, so that the
   * time of a look-up tells nothing.
   */
  readonly #recent = new Map<string, KeyActor>();
  readonly #unsubscribe: () => void;

  /** `onRemoved` hears of every key that is gone, also when another one has its label already. */
  constructor(keys: MirrorReader<ApiKeyRecord>, onRemoved: (label: string) => void) {
    for (const [, { value }] of keys.entries()) this.#add(value);
    this.#unsubscribe = keys.onChange((label, after, before) => {
      this.#recent.clear();
      if (before !== undefined) this.#remove(before.value);
      if (after !== undefined) this.#add(after.value);
      if (before !== undefined && !isSameKey(before.value, after?.value)) onRemoved(label);
    });
  }

  /** The key of this token; undefined when there is none. */
  find(token: string): KeyActor | undefined {
    const recent = this.#recent.get(token);
    if (recent !== undefined) return recent;
    const actor = this.#lookUp(token);
    if (actor === undefined) return undefined;
    if (this.#recent.size >= MAX_RECENT) this.#recent.clear();
    this.#recent.set(token, actor);
    return actor;
  }

  /** Idempotent; the index stands still afterwards. */
  close(): void {
    this.#unsubscribe();
  }

  #lookUp(token: string): KeyActor | undefined {
    // As text: `hash` takes three times as long to give a buffer.
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
