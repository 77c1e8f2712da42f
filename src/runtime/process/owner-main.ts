/** Entry of the owner process of the `process` runtime, started detached by owner-launch.ts. */
import { parseArgs } from 'node:util';
import { runOwnerProcess } from '../owner/owner-process.js';
import { loadNativePty } from './native-pty.js';
import { TerminalRuns } from './terminal-runs.js';

await runOwnerProcess(() => {
  const { values } = parseArgs({
    options: { root: { type: 'string' }, socket: { type: 'string' }, lock: { type: 'string' } },
  });
  const { root, socket, lock } = values;
  if (root === undefined || socket === undefined || lock === undefined)
    throw new Error('--root, --socket and --lock are needed; Drover starts this program itself');
  process.title = `drover owner ${root}`;
  return { rootId: root, socketPath: socket, lockName: lock, source: new TerminalRuns(loadNativePty()) };
});
