/**
 * Checks of values that come from a file or from another process. Written by hand, because a schema library would
 * double the memory of an owner, which stays as long as an instance runs.
 */

import { isObject } from '../../model/json-object.js';
import type { StartRequest } from './protocol.js';

export type Check<T> = (value: unknown) => value is T;

export const isText: Check<string> = (value) => typeof value === 'string';
export const isNumber: Check<number> = (value) => typeof value === 'number';

export function only<T extends string>(wanted: T): Check<T> {
  return (value): value is T => value === wanted;
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

export function orNone<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

export function mapOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value): value is Record<string, T> => isObject(value) && Object.values(value).every(check);
}

/** True for an object whose fields pass their checks. Other fields are not looked at. */
export function fields<T>(checks: { readonly [K in keyof T]-?: Check<T[K]> }): Check<T> {
  const names = Object.keys(checks) as (keyof T & string)[];
  return (value): value is T => isObject(value) && names.every((name) => checks[name](value[name]));
}

/** Checks the log settings of a run, in its start request and in its run directory. */
export const isLog = fields<StartRequest['log']>({
  directory: isText,
  segmentBytes: isNumber,
  segments: isNumber,
});
