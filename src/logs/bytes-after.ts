/** Tells how much a log has grown since a place was noted, for a writer that continues for a killed one. */
import { readdirSync, statSync } from 'node:fs';
import type { LogPlace } from '../model/run/past-exit.js';
import { segmentsOf } from './segments.js';

/**
 * The bytes written to the log in `directory` after `place`. A line that was moved to the next segment meanwhile counts
 * once. Undefined when the place's segment is gone. Throws the system's error.
 */
export function bytesAfter(directory: string, { segment, offset }: LogPlace): number | undefined {
  const since = segmentsOf(directory, readdirSync(directory)).filter(({ firstLine }) => firstLine >= segment);
  if (since[0]?.firstLine !== segment) return undefined;
  return since.reduce((sum, { path }) => sum + statSync(path).size, -offset);
}
