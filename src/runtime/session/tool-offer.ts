/**
 * Finds out for a node's offer whether a terminal multiplexer is installed and in which version. Called every 30 s; the
 * program itself runs only when its file changed.
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { publicMessage } from '../../model/public-message.js';
import { findProgram } from './find-program.js';
import { readTmuxVersion } from './tmux/tmux-version.js';

const ANSWER_TIMEOUT_MS = 5000;

export interface ToolVersion {
  readonly version: string | null;
  /** The reason why the tool cannot be used, for an operator; null: it can. */
  readonly reason: string | null;
}

export type ToolKey = 'screen' | 'tmux';

export class ToolOffer {
  readonly #key: ToolKey;
  readonly #path: string;
  #known: { readonly file: string; readonly version: ToolVersion } | undefined;

  /** `path`: the directories in which programs are searched, as in PATH. */
  constructor(key: ToolKey, path: string) {
    this.#key = key;
    this.#path = path;
  }

  async probe(): Promise<ToolVersion> {
    const program = findProgram(this.#key, this.#path);
    if (program === undefined)
      return { version: null, reason: `${this.#key} is not installed on this node; install it` };
    try {
      const { mtimeMs, size, ino } = statSync(program);
      const file = `${program} ${mtimeMs} ${size} ${ino}`;
      if (this.#known?.file !== file) this.#known = { file, version: await this.#ask(program) };
      return this.#known.version;
    } catch (error) {
      return { version: null, reason: `${this.#key} cannot be run: ${publicMessage(error)}` };
    }
  }

  async #ask(program: string): Promise<ToolVersion> {
    if (this.#key === 'tmux') return readTmuxVersion(await wordsOf(program, '-V'));
    const said = await wordsOf(program, '-v');
    const version = /^Screen version (\S+)/.exec(said)?.[1];
    if (version === undefined) throw new Error(`asked for its version, it says "${said.slice(0, 100)}"`);
    return { version, reason: null };
  }
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
