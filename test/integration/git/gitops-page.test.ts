/** docs/gitops.md: its commands, typed as they stand there with the real git; only URL and paths are others. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitProgress } from '../../../src/operations/commit-progress.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { REPOSITORY } from '../../support/repository-root.js';

const page = readFileSync(join(REPOSITORY, 'docs/gitops.md'), 'utf8');
const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);

describe.skipIf(!HAS_GIT)('docs/gitops.md', () => {
  let world: CommandWorld;
  let origin: GitRepository;

  beforeEach(async () => {
    origin = new GitRepository();
    mkdirSync(join(origin.top, 'templates'));
    origin.write('templates/games/lobby/readme', 'a template');
    origin.write('configurations/lobby.json', '{"command": "run", "minimumServiceCount": 0}');
    origin.commit();
    world = await CommandWorld.create();
    // The links take the place of the directory that the first start made.
    rmdirSync(join(world.root, 'configurations'));
  });
  afterEach(async () => {
    await world.stop();
    origin.remove();
  });

  /** Runs a block in a shell; returns what it would give to `drover`. */
  const type = (block = ''): string => {
    const text = block
      .replaceAll('https://git.example.org/fleet.git', origin.top)
      .replaceAll('/srv/fleet', join(origin.scratch, 'fleet'))
      .replaceAll('/srv/drover', world.root);
    const script = `set -e\ndrover() { echo "$*"; }\n${text}`;
    return execFileSync('sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  };

  it('has commands that bring a commit in force, and wait for it', async () => {
    const [clone, pull, wait] = blocks;
    expect(blocks).toHaveLength(3);
    type(clone);
    await world.files.reload();
    expect(await world.run('config list')).toMatch(/lobby .* Healthy\n/);
    // Somebody has edited the clone, and upstream was rewritten: this pull works all the same.
    origin.write('configurations/lobby.json', '{"command": "run", "minimumServiceCount": 1}');
    origin.git('add', '-A');
    origin.git('commit', '-q', '--amend', '-m', 'another first commit');
    world.writeFile('lobby.json', '{"command": "edited"}');
    type(pull);
    await world.files.reload();
    const head = origin.git('rev-parse', 'HEAD');
    expect(type(wait)).toBe(`wait commit ${head} --for rolled-out --timeout 10m\n`);
    expect(await commitProgress(world.dependencies, head)).toMatchObject({ state: 'rolled-out', files: [] });
    expect(await world.run('config list')).toMatch(
      new RegExp(`git: main at ${head.slice(0, 8)}, as origin/main\n`),
    );
  });
});
