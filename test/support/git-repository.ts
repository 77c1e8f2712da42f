/** A git repository in a temporary directory, made and changed with the real git, without anybody's settings. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const HAS_GIT = spawnSync('git', ['--version']).status === 0;

const SETTINGS = ['user.name=Test', 'user.email=test@example.org', 'init.defaultBranch=main', 'gc.auto=0'];

export class GitRepository {
  /** Holds the repository, and what a test makes beside it. */
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

  /** As if it had been written some time ago, so that git need not doubt what it sees. */
  age(path: string): void {
    utimesSync(join(this.top, path), 1_000_000_000, 1_000_000_000);
    this.git('update-index', '--refresh');
  }

  /** The hash of the new commit. */
  commit(message = 'a change'): string {
    this.git('add', '-A');
    this.git('commit', '-q', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
