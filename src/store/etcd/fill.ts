/** Cuts a whole state into requests of a size that etcd takes. */
import { type Entry, MAX_OPERATIONS } from '../store.js';
import type { KeyChange } from './etcd.js';
import { encodeEntry } from './etcd-record.js';
import type { StoreKeys } from './leader-key.js';

/** The most bytes of several entries in a request; etcd takes 1.5 MiB at once by default. */
const REQUEST_BYTES = 512 * 1024;

/** The changes of each request. Yields at least one request, which may be empty. */
export function* requestsFor(keys: StoreKeys, entries: readonly Entry[]): Generator<KeyChange[]> {
  let changes: KeyChange[] = [];
  let bytes = 0;
  for (const { key, value, revision } of entries) {
    const encoded = encodeEntry(revision, JSON.stringify(value));
    if (changes.length === MAX_OPERATIONS || (bytes > 0 && bytes + encoded.length > REQUEST_BYTES)) {
      yield changes;
      changes = [];
      bytes = 0;
    }
    changes.push({ do: 'put', key: keys.records + key, value: encoded });
    bytes += encoded.length;
  }
  yield changes;
}
