/**
 * The `screen` and `tmux` runtimes: each instance has a session of its own, which lives in the tool's server and so
 * outlives the daemon and the sessions' owner. The owner (session-owner-main.ts) does the work; this file tells the
 * daemon what is special about these runtimes.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type KeptKind, KeptRuntime, type KeptRuntimeOptions } from '../owner/kept-runtime.js';
import { resolveSocketPath } from '../socket-path.js';
import { RunDirectory } from './run-directory.js';
import { type ToolKey, toolProbe } from './tool-offer.js';

/** How long a hundred sessions need to begin one after the other on a busy machine. */
const START_TIMEOUT_MS = 60_000;
/** The longest name of a socket that a tool makes: `<pid>.<instance id>-<run>`. */
const LONGEST_SOCKET_NAME = 'x'.repeat(32);

export interface SessionRuntimeOptions extends KeptRuntimeOptions {
  readonly tool: ToolKey;
  /** The directory that holds a directory of sessions for each tool. */
  readonly sessionsDirectory: string;
  /** The path of the built session-owner-main.js. */
  readonly sessionOwnerProgram: string;
  /** The directories in which programs are searched: the daemon's `PATH`. */
  readonly path: string;
}

export function sessionRuntime(options: SessionRuntimeOptions): KeptRuntime {
  return new KeptRuntime(options.tool, sessionKind(options), options);
}

/** The directory in which a tool's servers listen and an operator finds them. Made with mode 0700 when missing. */
export function serverDirectory(socketDirectory: string, tool: ToolKey): string {
  return dirname(resolveSocketPath(join(socketDirectory, tool), LONGEST_SOCKET_NAME));
}

function sessionKind(options: SessionRuntimeOptions): KeptKind {
  const { tool, sessionOwnerProgram, path, socketDirectory } = options;
  const sessions = join(options.sessionsDirectory, tool);
  return {
    name: tool,
    title: `the owner of ${tool} sessions`,
    program: sessionOwnerProgram,
    get parameters() {
      const servers = serverDirectory(socketDirectory, tool);
      return ['--tool', tool, '--sessions', sessions, '--servers', servers, '--path', path];
    },
    startTimeoutMs: START_TIMEOUT_MS,
    diesWithOwner: false,
    probe: toolProbe(tool, path),
    hasLeftRuns: () => existsSync(sessions) && RunDirectory.all(sessions).length > 0,
  };
}
