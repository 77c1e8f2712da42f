/** Finds what has to change in a file so that it says another content. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { fieldOf, isObject } from '../model/json-object.js';
import { EXTENDS } from './extends.js';
import { REMARK } from './remarks.js';

/** A value as somebody wrote it, and what it means, with every default. */
export interface Said {
  readonly raw: unknown;
  /** Undefined: the schema does not know the field. */
  readonly meant: unknown;
}

/** Fields that stay when a writer leaves them out: clients that write a whole configuration do not know them. */
const KEPT: ReadonlySet<string> = new Set([REMARK, '$schema', EXTENDS]);

/**
 * The content of a file that says `now` and should say `wanted`. Fields that mean the same stay as they are, also a
 * default that only one of both names. `base`: what the file extends, so that it says the difference only.
 */
export function nextContent(now: Said, wanted: Said, base?: unknown): unknown {
  if (Array.isArray(now.raw) && Array.isArray(wanted.raw)) return nextList(now, now.raw, wanted, wanted.raw);
  if (!isObject(now.raw) || !isObject(wanted.raw)) return isSame(now, wanted) ? now.raw : wanted.raw;
  const keys = new Set([now.raw, wanted.raw, base].flatMap((one) => (isObject(one) ? Object.keys(one) : [])));
  const fields = [...keys].map((key) => [key, nextField(key, now, wanted, fieldOf(base, key))] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function nextField(key: string, now: Said, wanted: Said, base: unknown): unknown {
  const [own, next] = [fieldOf(now.raw, key), fieldOf(wanted.raw, key) ?? undefined];
  if (next === undefined && KEPT.has(key)) return own;
  const before = { raw: own, meant: fieldOf(now.meant, key) };
  const after = { raw: next, meant: fieldOf(wanted.meant, key) };
  if (base === undefined) return nextContent(before, after);
  if (isObject(base) && isObject(next)) {
    const patch = nextContent({ ...before, raw: isObject(own) ? own : {} }, after, base);
    return own === undefined && isDeepStrictEqual(patch, {}) ? undefined : patch;
  }
  if (isSame({ ...before, raw: own === undefined ? base : own }, after)) return own;
  // A patch removes by null.
  if (next === undefined) return null;
  return isDeepStrictEqual(next, base) ? undefined : next;
}

/** An entry that was there before, anywhere in the list, stays as it is written. */
function nextList(now: Said, own: readonly unknown[], wanted: Said, entries: readonly unknown[]): unknown[] {
  const saidAt = (index: number): Said => ({ raw: own[index], meant: itemOf(now.meant, index) });
  return entries.map((raw, index) => {
    const entry = { raw, meant: itemOf(wanted.meant, index) };
    if (own.length === entries.length) return nextContent(saidAt(index), entry);
    return own.find((_, at) => isSame(saidAt(at), entry)) ?? raw;
  });
}

/** A null counts as a field that is not there. */
function isSame(now: Said, wanted: Said): boolean {
  if (isDeepStrictEqual(now.raw ?? undefined, wanted.raw ?? undefined)) return true;
  return now.meant !== undefined && isDeepStrictEqual(now.meant, wanted.meant);
}

function itemOf(list: unknown, index: number): unknown {
  return Array.isArray(list) ? list[index] : undefined;
}
