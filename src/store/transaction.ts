/**
 * The form that every store requires of a transaction, checked before its conflicts. It also cuts larger work into
 * steps that fit into one.
 */
import { internalError } from '../model/errors.js';
import { MAX_OPERATIONS, type Operation } from './store.js';

const KEY = /^[!-~]{1,512}$/;

/**
 * Throws DRV_INTERNAL when the form of the transaction is wrong. It does not check that values are JSON: the
 * store finds that out when it writes them as text.
 */
export function checkTransaction(operations: readonly Operation[]): void {
  const count = operations.length;
  if (count === 0 || count > MAX_OPERATIONS)
    throw internalError(
      `a transaction has 1 to ${MAX_OPERATIONS} operations, not ${count}: wait with barrier(), or write in steps`,
    );
  // Refuse any other key here: a disk format could refuse it half-way through a transaction.
  for (const { key } of operations)
    if (!KEY.test(key))
      throw internalError(
        `a store key is 1 to 512 printable ASCII characters without spaces, not ${JSON.stringify(key.slice(0, 80))}`,
      );
  const keys = new Set(operations.map(({ key }) => key));
  if (keys.size !== count) throw internalError(`a transaction names a key twice: ${[...keys].join(', ')}`);
}

/** Cuts work on many records into steps of at most MAX_OPERATIONS, in order. */
export function inSteps<T>(work: readonly T[]): T[][] {
  const steps: T[][] = [];
  for (let from = 0; from < work.length; from += MAX_OPERATIONS)
    steps.push(work.slice(from, from + MAX_OPERATIONS));
  return steps;
}
