/**
 * Asks the git program about a repository that is not trusted: no setting of it runs a program, nothing is fetched,
 * and nothing is written. Each question is bounded in time and in the size of its answer.
 */
import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMissing } from '../files/system-error.js';

const LIMIT_MS = 5000;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** Git refused or did not answer. `exitCode` is undefined when git did not end by itself. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly exitCode: number | undefined;

  constructor(message: string, exitCode?: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Options that override the settings of the repository. Callers ask for hashes and names, never for contents, so
 * git runs no filter and no program that compares. A repository of another user is read, too, because its
 * settings can do nothing.
 */
const GUARDS = [
  '--no-pager',
  '--no-replace-objects',
  '--literal-pathspecs',
  ...[
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'safe.directory=*',
    'safe.bareRepository=explicit',
  ].flatMap((setting) => ['-c', setting]),
];

/** Allow no transport: otherwise git would fetch missing objects with a program that the repository names. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_DISCOVERY_ACROSS_FILESYSTEM: '1',
};

/**
 * True when the directory or one above it has a `.git`. Outside of work trees this saves a start of git, and
 * a warning where git is not installed.
 */
export async function isInWorkTree(directory: string): Promise<boolean> {
  let top = await realpath(directory).catch(() => '/');
  while (top !== '/') {
    if (await stat(join(top, '.git')).catch(() => undefined)) return true;
    top = dirname(top);
  }
  return false;
}

/** The answer of git in `directory`. Throws GitFailure. */
export function git(directory: string, ...words: readonly string[]): Promise<string> {
  const options = {
    env: ENVIRONMENT,
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
  } as const;
  return new Promise((resolve, reject) => {
    execFile('git', ['-C', directory, ...GUARDS, ...words], options, (error, said, complaint) => {
      if (error === null) resolve(said);
      else if (isMissing(error)) reject(new GitFailure('git is not installed'));
      else if (error.killed === true)
        reject(new GitFailure(`git did not answer within ${LIMIT_MS / 1000} s`));
      else reject(new GitFailure(complaint.trim().split('\n').at(-1) ?? '', Number(error.code)));
    });
  });
}
