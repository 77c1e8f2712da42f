/** Bounds the logs of removed instances, which stay for a look back. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isInstanceId } from '../model/names.js';
import { segmentsOf } from './segments.js';

const KEPT_MS = 86_400_000;
const LIMITS = { logs: 100, bytes: 4 * 1024 ** 3 };

/**
 * Deletes the logs of instances that are not in `existing`, except the `logs` logs with the latest writes. A log of the
 * last day stays, too, while it and all newer ones have `bytes` together. Called from time to time. Touches only
 * directories named like an instance id. Returns the ids of the deleted logs.
 */
export async function pruneLogs(
  logsDirectory: string,
  existing: ReadonlySet<string>,
  now: number,
  { logs: keep, bytes: most } = LIMITS,
): Promise<string[]> {
  const removed = (await namesIn(logsDirectory)).filter((name) => isInstanceId(name) && !existing.has(name));
  if (removed.length <= keep) return [];
  const dated = await Promise.all(
    removed.map(async (id) => ({ id, ...(await lastWriteOf(join(logsDirectory, id))) })),
  );
  dated.sort((a, b) => b.at - a.at);
  let together = 0;
  const surplus = dated.filter(({ at, bytes }, place) => {
    together += bytes;
    return place >= keep && (at < now - KEPT_MS || together > most);
  });
  for (const { id } of surplus) await rm(join(logsDirectory, id), { recursive: true, force: true });
  return surplus.map(({ id }) => id);
}

/** When the newest segment was last written; when there is no segment, the directory's own time. And all its bytes. */
async function lastWriteOf(directory: string): Promise<{ at: number; bytes: number }> {
  const segments = segmentsOf(directory, await namesIn(directory));
  const paths = segments.length === 0 ? [directory] : segments.map(({ path }) => path);
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
  const bytes = found.reduce((sum, status) => sum + (status?.size ?? 0), 0);
  return { at: found.at(-1)?.mtimeMs ?? 0, bytes };
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
