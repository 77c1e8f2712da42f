/** Maps with a limit: what was set last is kept. */

/** Sets an entry as the latest of the map, and forgets the entries that came before the latest `most`. */
export function keepLatest<K, V>(map: Map<K, V>, most: number, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
