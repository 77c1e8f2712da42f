/** Says in one line how far a node has come with a sync. */
import type { NodeSync } from '../../model/template.js';
import { countText } from '../../model/words.js';

/** The line, such as `node-2: 3 trees: 1 was there, 2 fetched (5 files, 1200000 bytes) in 0.4 s`. */
export function describeNodeSync(sync: NodeSync): string {
  const { nodeId, state, trees, had, fetched, files, bytes, durationMs, problems } = sync;
  const there = had === 0 ? [] : [`${countText(had, 'was', 'were')} there`];
  const came =
    fetched === 0
      ? []
      : [
          `${fetched} fetched (${countText(files, 'file')}, ${sizeOf(bytes)}) in ${(durationMs / 1000).toFixed(1)} s`,
        ];
  const missing = trees - had - fetched;
  const isOver = state === 'done' || state === 'failed';
  const lacking = missing === 0 ? [] : [isOver ? `${missing} missing` : `${missing} to come`];
  const why = problems.length === 0 ? '' : `: ${problems.join('; ')}`;
  const parts = [...there, ...came, ...lacking];
  return `${nodeId}: ${countText(trees, 'tree')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}${why}`;
}

function sizeOf(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
