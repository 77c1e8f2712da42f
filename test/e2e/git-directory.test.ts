/** The built program on a directory that git tracks: the client changes, git stays clean, and each pull works. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runClient } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import { DaemonWorld } from '../support/daemon/daemon.js';
import { GitRepository, HAS_GIT } from '../support/git-repository.js';
import { until } from '../support/until.js';

const text = (fields: object): string =>
  `${JSON.stringify({ runtime: 'process', command: 'exec sleep 1000', ramMB: 16, cpu: 1, minimumServiceCount: 0, ...fields }, null, 2)}\n`;

describe.skipIf(!HAS_GIT)('a master whose configurations are a clone', () => {
  let world: DaemonWorld;
  let home: TemporaryHome;
  let repository: GitRepository;

  beforeEach(async () => {
    world = await DaemonWorld.create();
    home = new TemporaryHome();
    repository = new GitRepository();
  });
  afterEach(async ({ task }) => {
    await world.finish({ isFailed: task.result?.state === 'fail' });
    home.remove();
    repository.remove();
  });

  const drover = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runClient(words, {
      environment: home.environment,
      directory: world.root,
    });
    return `${code === 0 ? '' : `${code}: `}${stdout}${stderr}`;
  };
  const git = (...words: readonly string[]): string => repository.gitIn(world.paths.configurations, ...words);

  it('keeps what people change beside the files, and says it', async () => {
    repository.write('a.json', text({}));
    repository.write('b.json', text({}));
    repository.commit();
    repository.gitIn(repository.scratch, 'clone', '-q', repository.top, world.paths.configurations);
    await world.start();
    await world.untilConfigured('b');
    expect(await drover('scale', 'a', '2', '--reason', 'peak')).toBe('a: minimumServiceCount 0 -> 2\n');
    await world.untilOnline('a', 2);
    expect(await drover('config', 'overrides')).toMatch(
      /a +minimumServiceCount +0 +2 +admin +[\d.]+ s +peak/,
    );
    expect(await drover('config', 'list')).toMatch(/1 field overridden for [\d.]+ s\n/);
    expect(await drover('config', 'why', 'a')).toMatch(/minimumServiceCount is not as a.json says/);
    expect(await drover('config', 'diff', 'a')).toContain('minimumServiceCount: 2 -> 0');
    await drover('config', 'rollback', 'a', '--to', '1', '--reason', 'back', '--write');
    expect(await drover('config', 'overrides')).toContain('there are no overrides');
    await drover('scale', 'a', '3');
    expect(await drover('config', 'delete', 'b', '--yes')).toContain('configuration b is deleted');
    repository.write('a.json', text({ cpu: 2 }));
    repository.commit();
    git('pull', '-q', '--ff-only');
    await until(async () =>
      expect(JSON.parse(await drover('config', 'show', 'a', '-o', 'json'))).toMatchObject({
        cpu: 2,
        minimumServiceCount: 3,
      }),
    );
    await world.restart();
    expect(await drover('config', 'overrides', '-o', 'json')).toMatch(/"field": ?"minimumServiceCount"/);
    expect(await drover('config', 'reset', 'a')).toBe('configuration a: everything is as the file says\n');
    expect(await drover('config', 'reset', 'a')).toMatch(/^3: .*has no override/);
    expect(await drover('config', 'reset', 'b')).toContain('configuration b');
    expect(JSON.parse(await drover('config', 'show', 'a', '-o', 'json'))).toMatchObject({
      minimumServiceCount: 0,
    });
    expect(git('status', '--porcelain')).toBe('');
  });
});
