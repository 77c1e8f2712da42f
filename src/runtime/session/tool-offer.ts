/**
 * Finds out for a node's offer whether a terminal multiplexer is installed and in which version. Called every 30 s; the
 * program itself runs only when its file changed.
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { attempt } from '../../model/plain/attempt.js';
import { publicMessage } from '../../model/public-message.js';
import { findProgram } from './find-program.js';

const ANSWER_TIMEOUT_MS = 5000;

export interface ToolVersion {
  /** The version in the tool's own words: `3.3a`. */
  readonly version: string | null;
  /** The reason why the tool cannot be used, for an operator; null: it can. */
  readonly reason: string | null;
}

export type ToolKey = 'screen' | 'tmux';

/**
 * Makes the probe of a tool. `path`: the directories in which programs are searched, as in PATH. `readUser` throws when
 * the system has no entry for the user of this process.
 */
export function toolProbe(
  key: ToolKey,
  path: string,
  readUser: () => unknown = userInfo,
): () => Promise<ToolVersion> {
  let known: { readonly file: string; readonly version: ToolVersion } | undefined;
  return async () => {
    const program = findProgram(key, path);
    if (program === undefined)
      return { version: null, reason: `${key} is not installed on this node; install it` };
    try {
      const { mtimeMs, size, ino } = statSync(program);
      const file = `${program} ${mtimeMs} ${size} ${ino}`;
      if (known?.file !== file) known = { file, version: await versionOf(key, program) };
      return key === 'screen' && !isKnown(readUser) ? { ...known.version, reason: NO_ENTRY } : known.version;
    } catch (error) {
      return { version: null, reason: `${key} cannot be run: ${publicMessage(error)}` };
    }
  };
}

const NO_ENTRY = `screen does not start for user ${process.getuid?.()}, who has no entry in /etc/passwd: add one, or take the runtime tmux or process`;

function isKnown(readUser: () => unknown): boolean {
  return attempt(() => {
    readUser();
    return true;
  }, false);
}

async function versionOf(key: ToolKey, program: string): Promise<ToolVersion> {
  if (key === 'tmux') return readTmuxVersion(await wordsOf(program, '-V'));
  const said = await wordsOf(program, '-v');
  const version = /^Screen version (\S+)/.exec(said)?.[1];
  if (version === undefined) throw new Error(`asked for its version, it says "${said.slice(0, 100)}"`);
  return { version, reason: null };
}

/** The program's output, whatever its exit code: screen ends with code 1 after its version. */
function wordsOf(program: string, option: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, [option], { env: {}, timeout: ANSWER_TIMEOUT_MS }, (error, stdout) => {
      const text = stdout.trim();
      if (error !== null && text === '') reject(error);
      else resolve(text);
    });
  });
}

/** The lowest usable version: it has `new-session -e`, `run-shell -C` and hooks of panes. */
const LEAST = { major: 3, minor: 2 };

/** Reads the output of `tmux -V`: `tmux 3.3a`, `tmux next-3.5`, `tmux openbsd-7.4`, `tmux master`. */
export function readTmuxVersion(said: string): ToolVersion {
  const version = said.trim().replace(/^tmux /, '');
  const number = /^(?:next-)?(\d+)\.(\d+)/.exec(version);
  // A version without a number is built from sources, or numbered by the system: assume that it is new enough.
  if (number === null) return { version, reason: null };
  const major = Number(number[1]);
  const isNew = major > LEAST.major || (major === LEAST.major && Number(number[2]) >= LEAST.minor);
  const wanted = `${LEAST.major}.${LEAST.minor}`;
  return { version, reason: isNew ? null : `tmux ${version} is too old: install ${wanted} or newer` };
}
