/**
 * Entry of the owner of a tool's sessions, started detached by owner-launch.ts. When the owner dies nothing is lost:
 * the sessions live in the tool's own servers, and the next owner goes on in its place.
 */
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readBootId } from '../../files/processes.js';
import { runOwnerProcess } from '../owner/owner-process.js';
import { ScreenTool } from './screen/screen-tool.js';
import type { SessionTool, ToolPlace } from './session-tool.js';
import { Sessions } from './sessions.js';
import { TmuxTool } from './tmux/tmux-tool.js';

await runOwnerProcess(() => {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { root: text, socket: text, lock: text, sessions: text, tool: text, servers: text, path: text },
  });
  const { root, socket, lock, sessions, tool, servers, path } = values;
  if (!root || !socket || !lock || !sessions || !tool || !servers || path === undefined)
    throw new Error(
      '--root, --socket, --lock, --sessions, --tool, --servers and --path are needed; Drover starts this program itself',
    );
  process.title = `drover ${tool}-owner ${root}`;
  mkdirSync(sessions, { recursive: true, mode: 0o700 });
  const source = new Sessions({
    tool: openTool(tool, { directory: sessions, socketDirectory: servers, path }),
    directory: sessions,
    bootId: readBootId(),
    path,
  });
  return {
    rootId: root,
    socketPath: socket,
    lockName: lock,
    source,
    takeUp: (owner) => source.takeUp(owner),
  };
});

function openTool(key: string, place: ToolPlace): SessionTool {
  if (key === 'screen') return new ScreenTool(place);
  if (key === 'tmux') return new TmuxTool(place);
  throw new Error(`there is no tool ${key}`);
}
