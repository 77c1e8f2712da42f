/** A repository may hold anything: no setting of it runs a program, nothing hangs, and nothing outside is told. */
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitDirectory } from '../../../src/configuration-files/git-directory.js';
import { isAncestor } from '../../../src/git/git-ancestry.js';
import { gitOriginsOf } from '../../../src/git/git-origins.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';

const COMMIT = 'c'.repeat(40);

describe.skipIf(!HAS_GIT)('a hostile repository', () => {
  let repository: GitRepository;
  let marker: string;
  let program: string;

  beforeEach(() => {
    repository = new GitRepository();
    marker = join(repository.scratch, 'marker');
    program = join(repository.scratch, 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>${marker}\n`, { mode: 0o755 });
  });
  afterEach(() => repository.remove());

  /** Every setting that makes some command of git run a program, in a repository with changed and racy files. */
  function arm(): void {
    repository.write('.gitattributes', '*.json filter=evil diff=evil merge=evil\n');
    repository.write('lobby.json', '{}');
    repository.write('game.json', '{}');
    repository.commit();
    appendFileSync(
      join(repository.top, '.git', 'config'),
      `[core]\n fsmonitor = ${program}\n hooksPath = ${repository.scratch}\n pager = ${program}\n editor = ${program}
 sshCommand = ${program}\n askPass = ${program}\n gitProxy = ${program}\n alternateRefsCommand = ${program}
[pager]\n ls-tree = true\n ls-files = true\n rev-parse = true\n diff-index = true\n for-each-ref = true\n rev-list = true\n merge-base = true
[alias]\n ls-tree = !${program}\n ls-files = !${program}\n rev-parse = !${program}
[filter "evil"]\n clean = ${program}\n smudge = ${program}\n process = ${program}\n required = true
[diff]\n external = ${program}\n[diff "evil"]\n command = ${program}\n textconv = ${program}
[merge "evil"]\n driver = ${program}\n[credential]\n helper = ${program}`,
    );
    for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction'])
      writeFileSync(join(repository.scratch, hook), `#!/bin/sh\necho ${hook} >>${marker}\n`, { mode: 0o755 });
    repository.write('lobby.json', '[]');
  }

  it('runs no program by its settings, which a common command of git does', async () => {
    arm();
    expect((await gitOriginsOf(repository.top, ['lobby.json', 'game.json'])).get('lobby.json')).toMatchObject(
      {
        // A filter decides, which is such a program.
        isDirty: null,
      },
    );
    const files = new Map([['lobby.json', { signature: 'any' }]]);
    expect((await new GitDirectory(repository.top, new SystemClock()).look(files)).standing).toMatchObject({
      branch: 'main',
    });
    expect(await isAncestor(repository.top, repository.git('rev-parse', 'HEAD'), COMMIT)).toBe('unknown');
    expect(existsSync(marker)).toBe(false);
    spawnSync('git', ['-C', repository.top, 'status']);
    expect(existsSync(marker)).toBe(true);
  });

  it('runs no program to fetch objects that it lacks, which a common command of git does', async () => {
    arm();
    const commit = repository.git('rev-parse', 'HEAD');
    appendFileSync(
      join(repository.top, '.git', 'config'),
      `\n[core]\n repositoryFormatVersion = 1\n fsmonitor = false\n[extensions]\n partialClone = origin
[protocol "ext"]\n allow = always\n[remote "origin"]\n promisor = true\n partialCloneFilter = blob:none
 url = ext::${program} %S\n`,
    );
    rmSync(join(repository.top, '.git', 'objects'), { recursive: true });
    mkdirSync(join(repository.top, '.git', 'objects'));
    expect(await gitOriginsOf(repository.top, ['lobby.json'])).toEqual(
      new Map([['lobby.json', { commit, isDirty: null }]]),
    );
    expect(existsSync(marker)).toBe(false);
    spawnSync('git', ['-C', repository.top, 'ls-tree', 'HEAD']);
    expect(existsSync(marker)).toBe(true);
  });

  it('is not taken for one when it is a bare repository among the files', async () => {
    repository.write('lobby.json', '{}');
    const commit = repository.commit();
    const inner = join(repository.top, 'configurations');
    execFileSync('git', ['clone', '-q', '--bare', repository.top, inner]);
    writeFileSync(join(inner, 'lobby.json'), '{}');
    expect(await gitOriginsOf(inner, ['lobby.json'])).toEqual(new Map());
    expect(commit).toHaveLength(40);
  });
});

describe.skipIf(!HAS_GIT)('a hostile git directory', () => {
  let top: string;
  let git: string;

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'drover-git-'));
    git = join(top, '.git');
    mkdirSync(join(git, 'refs', 'heads'), { recursive: true });
    mkdirSync(join(git, 'objects', 'pack'), { recursive: true });
    writeFileSync(join(top, 'lobby.json'), '{}');
  });
  afterEach(() => rmSync(top, { recursive: true, force: true }));

  const ask = async (): Promise<unknown> => [...(await gitOriginsOf(top, ['lobby.json'])).values()];

  it.each([
    ['leads out of it', 'ref: refs/../../lobby.json'],
    ['is a path', 'ref: /etc/hostname'],
    ['names itself', 'ref: refs/heads/loop'],
    ['is no commit', 'secret text of somebody'],
    ['is larger than any', `ref: refs/heads/${'x'.repeat(100_000)}`],
  ])('tells nothing when HEAD %s', async (_what, head) => {
    writeFileSync(join(git, 'HEAD'), head);
    writeFileSync(join(git, 'refs', 'heads', 'loop'), 'ref: refs/heads/loop');
    writeFileSync(join(top, 'lobby.json'), COMMIT);
    expect(await ask()).toEqual([]);
  });

  it('waits for a pipe no longer than the limit', async () => {
    execFileSync('mkfifo', [join(git, 'HEAD')]);
    expect(await ask()).toEqual([]);
  });

  it('goes round no circle of git files', async () => {
    rmSync(git, { recursive: true });
    writeFileSync(git, 'gitdir: .git');
    expect(await ask()).toEqual([]);
  });

  it('is not unpacked without end', async () => {
    const bomb = deflateSync(Buffer.concat([Buffer.from('tree 99999999\0'), Buffer.alloc(40_000_000)]));
    mkdirSync(join(git, 'objects', 'cc'));
    writeFileSync(join(git, 'objects', 'cc', COMMIT.slice(2)), bomb);
    writeFileSync(join(git, 'HEAD'), COMMIT);
    expect(await ask()).toEqual([{ commit: COMMIT, isDirty: null }]);
  });
});
