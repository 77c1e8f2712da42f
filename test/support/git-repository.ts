/** A git repository in a temporary directory, made and changed with the real git, without the settings of any user. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const HAS_GIT = spawnSync('git', ['--version']).status === 0;

const SETTINGS = ['user.name=Test', 'user.email=test@example.org', 'init.defaultBranch=main', 'gc.auto=0'];

export class GitRepository {
  /** The directory of the repository and of other files of the test. */
  readonly scratch = mkdtempSync(join(tmpdir(), 'drover-git-'));
  readonly top = join(this.scratch, 'work');

  constructor(...initOptions: readonly string[]) {
    mkdirSync(this.top);
    this.git('init', '-q', ...initOptions);
  }

  git(...words: readonly string[]): string {
    return this.gitIn(this.top, ...words);
  }

  gitIn(directory: string, ...words: readonly string[]): string {
    const options = SETTINGS.flatMap((setting) => ['-c', setting]);
    return execFileSync('git', ['-C', directory, ...options, ...words], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: this.scratch, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  write(path: string, text: string): void {
    const whole = join(this.top, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
  }

  /** Gives a file an old time, so that git need not compare its content. */
  age(path: string): void {
    utimesSync(join(this.top, path), 1_000_000_000, 1_000_000_000);
    this.git('update-index', '--refresh');
  }

  /** Commits everything; returns the hash of the new commit. */
  commit(message = 'a change'): string {
    this.git('add', '-A');
    this.git('commit', '-q', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
