/** Bounds the logs of removed instances: only the newest logs stay, for a look back. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isInstanceId } from '../model/names.js';
import { segmentsOf } from './segments.js';

const KEPT_REMOVED_INSTANCES = 100;

/**
 * Deletes the logs of instances that are not in `existing`, except the `keep` logs with the latest writes. Called from
 * time to time. Touches only directories named like an instance id. Returns the ids of the deleted logs.
 */
export async function pruneLogs(
  logsDirectory: string,
  existing: ReadonlySet<string>,
  keep: number = KEPT_REMOVED_INSTANCES,
): Promise<string[]> {
  const removed = (await namesIn(logsDirectory)).filter((name) => isInstanceId(name) && !existing.has(name));
  if (removed.length <= keep) return [];
  const dated = await Promise.all(
    removed.map(async (id) => ({ id, at: await lastWriteAt(join(logsDirectory, id)) })),
  );
  dated.sort((a, b) => b.at - a.at);
  const surplus = dated.slice(keep).map(({ id }) => id);
  for (const id of surplus) await rm(join(logsDirectory, id), { recursive: true, force: true });
  return surplus;
}

/**
 * When the newest segment was last written, in Unix milliseconds; when there is no segment, the directory's own time.
 */
async function lastWriteAt(directory: string): Promise<number> {
  const newest = segmentsOf(directory, await namesIn(directory)).at(-1);
  const status = await lstat(newest?.path ?? directory).catch(() => undefined);
  return status?.mtimeMs ?? 0;
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
