/** Three masters on etcd with a clone each: pulls, reverts and the death of a leader never bring an older content back. */
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failedOf } from '../support/daemon/daemon.js';
import { hasEtcd } from '../support/etcd/etcd-server.js';
import { GitRepository, HAS_GIT } from '../support/git-repository.js';
import type { MasterProcess } from '../support/masters/master-process.js';
import { ThreeMasters } from '../support/masters/three-masters.js';
import { until } from '../support/until.js';

describe.skipIf(!hasEtcd || !HAS_GIT)('clones of three masters on etcd', () => {
  let masters: ThreeMasters;
  let repository: GitRepository;

  /** Commits another memory of `web`, and another file of the template; returns the commit. */
  const push = (ramMB: number): string => {
    const web = { command: 'run', runtime: 'process', ramMB, cpu: 0, minimumServiceCount: 0 };
    repository.write('configurations/web.json', JSON.stringify(web, null, 2));
    repository.write('templates/games/arena/map', `${ramMB}`);
    return repository.commit();
  };
  const git = ({ paths }: MasterProcess, ...words: readonly string[]): string =>
    repository.gitIn(paths.root, ...words);
  const goTo = (master: MasterProcess, commit: string): void => {
    git(master, 'fetch', '-q');
    git(master, 'reset', '-q', '--hard', commit);
  };
  /** Makes the root a clone. Everything else in it is ignored. */
  const clone = ({ paths }: MasterProcess): void => {
    for (const directory of [paths.configurations, paths.templates]) rmSync(directory, { recursive: true });
    repository.gitIn(paths.root, 'init', '-q');
    repository.gitIn(paths.root, 'remote', 'add', 'origin', repository.top);
    repository.gitIn(paths.root, 'fetch', '-q');
    repository.gitIn(paths.root, 'checkout', '-q', 'main');
  };
  const ramOf = async (master: MasterProcess): Promise<unknown> =>
    JSON.parse((await master.api.send('GET', '/configurations/web')).text).ramMB;
  /** Resolves when all running masters have looked at their files since, and `web` has this memory. */
  const becomes = async (ramMB: number): Promise<void> => {
    const running = masters.all.filter(({ process }) => process.isRunning);
    const [one = expect.fail('no master runs')] = running;
    await until(async () => expect(await ramOf(one)).toBe(ramMB));
    for (let looks = 0; looks < 2; looks++) {
      expect(await one.api.send('POST', '/configuration-files/reload')).toMatchObject({ status: 200 });
      for (const master of running) expect(await ramOf(master)).toBe(ramMB);
    }
    for (const master of running) expect(git(master, 'status', '--porcelain')).toBe('');
  };

  beforeEach(async () => {
    repository = new GitRepository();
    repository.write('.gitignore', '/*\n!/.gitignore\n!/configurations/\n!/templates/\n');
    push(1);
    masters = await ThreeMasters.start({ clusterName: 'prod', nodeTimeoutMs: 120_000 }, clone);
  });
  afterEach(async ({ task }) => {
    await masters.finish(failedOf(task));
    repository.remove();
  });

  it('stay as git has them, and the newest commit stays in force, whoever leads', async () => {
    await becomes(1);
    const two = push(2);
    const { leader: former, others } = await masters.roles();
    const [second = former, third = former] = others;
    goTo(third, two);
    await becomes(2);
    await former.process.end('SIGKILL');
    await masters.roles(former.nodeId);
    // The former leader is behind when it comes back, and so is another one.
    git(second, 'checkout', '-q', '.');
    const three = push(3);
    goTo(second, three);
    await becomes(3);
    former.spawn();
    await until(() => former.api.instances());
    await becomes(3);
    // A revert has an older content, and a later commit. The commit before it comes after it.
    repository.git('revert', '--no-edit', 'HEAD');
    git(third, 'pull', '-q');
    await becomes(2);
    goTo(former, three);
    goTo(second, two);
    await becomes(2);
    for (const master of masters.all) git(master, 'pull', '-q');
    await becomes(2);
    const write = await former.api.send('PATCH', '/templates/games/arena/files/map', 'x');
    expect(write).toMatchObject({ status: 409 });
    expect(write.text).toContain('DRV_TEMPLATE_OWNED');
    const { text } = await former.api.send('GET', '/configuration-files/errors');
    expect(JSON.parse(text)).toEqual([]);
  });
});
