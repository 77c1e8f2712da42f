/**
 * A root of the version before schedules, notices, liveness, hooks, named ports and jobs: that program makes it, this one
 * takes it over while its instances run. The program comes from the history of git. Needs `npm run build`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceInfo } from '../../src/model/instance.js';
import { openStore } from '../../src/store/lmdb/open.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { REPOSITORY } from '../support/repository-root.js';
import { hasTool } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

/** The last commit before the first of these parts. */
const FORMER = '3c54479dd76da49152852f524a1ce70b696a6bcd';

/** A copy of the history may be shallow, and a package of the sources has none. */
const hasHistory = ((): boolean => {
  try {
    execFileSync('git', ['-C', REPOSITORY, 'cat-file', '-e', `${FORMER}^{tree}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** Records that a start of the next version leaves as they are. */
const KEPT = ['configurations/', 'revisions/', 'history/', 'keys/', 'members/', 'secrets/', 'templates/'];

describe.skipIf(!hasHistory)(`after the version of ${FORMER.slice(0, 8)}`, () => {
  let former: string;
  let world: DaemonWorld;
  beforeAll(() => {
    former = mkdtempSync(join(tmpdir(), 'drover-former-'));
    const archive = execFileSync('git', ['-C', REPOSITORY, 'archive', FORMER], { maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', former], { input: archive });
    symlinkSync(join(REPOSITORY, 'node_modules'), join(former, 'node_modules'));
    execFileSync(process.execPath, ['bundle.mjs'], { cwd: former, stdio: 'ignore' });
    return () => rmSync(former, { recursive: true, force: true });
  });
  beforeEach(async () => {
    world = await DaemonWorld.create();
  });
  afterEach(({ task }) => world.finish(failedOf(task)));

  /** The state that a daemon which has ended left, by key. */
  async function stateOf(name: string): Promise<Map<string, unknown>> {
    const directory = join(world.root, name);
    cpSync(join(world.paths.store, 'master'), directory, { recursive: true });
    const store = await openStore({ directory });
    const { entries } = await store.list('');
    await store.close();
    rmSync(directory, { recursive: true });
    return new Map(entries.map(({ key, value }) => [key, value]));
  }

  const filesOf = (): string[] =>
    ['config.json', 'configurations/lobby.json', 'configurations/world.json'].map((file) =>
      readFileSync(join(world.root, file), 'utf8'),
    );
  const runs = (all: readonly InstanceInfo[]) =>
    all.map(({ id, processPid, configurationName }) => `${configurationName} ${id} ${processPid}`).toSorted();

  it('takes over what runs; files, contents, histories and keys are as they were', async () => {
    world.template('global', 'base', { 'settings.txt': 'port=%PORT%\n' });
    const lobby = {
      command: 'while :; do echo tick; sleep 0.2; done',
      minimumServiceCount: 2,
      update: { strategy: 'rolling' },
      properties: { MOOD: 'calm' },
    } as const;
    world.configure('lobby', lobby);
    world.configure('world', {
      runtime: hasTool('screen') ? 'screen' : 'process',
      command: 'exec sleep 1000',
      static: true,
      minimumServiceCount: 1,
      templateInstallationConfig: { allOf: [{ group: 'global', name: 'base' }] },
      fileModifications: ['settings.txt'],
    });
    world.spawn({ program: join(former, 'dist/main.js') });
    await world.untilOnline('lobby', 2);
    const [{ id: kept = '' } = {}] = await world.untilOnline('world', 1);
    // A second content, so that there is a history and a rollout.
    world.configure('lobby', { ...lobby, properties: { MOOD: 'merry' } });
    await until(async () => {
      const { text } = await world.api.send('GET', '/rollouts/lobby');
      expect(JSON.parse(text)).toMatchObject({ state: 'complete', toNumber: 2 });
    });
    const before = runs([...(await world.untilOnline('lobby', 2)), ...(await world.untilOnline('world', 1))]);
    const key = { label: 'proxy', scope: 'READ' };
    expect(await world.api.send('POST', '/keys', key)).toMatchObject({ status: 201 });
    const files = filesOf();
    expect(await world.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const state = await stateOf('state-before');

    await world.start();
    const now = [...(await world.untilOnline('lobby', 2)), ...(await world.untilOnline('world', 1))];
    expect(runs(now)).toEqual(before);
    expect(now.map(({ restarts }) => restarts)).toEqual([0, 0, 0]);
    expect(filesOf()).toEqual(files);
    const settings = join(world.paths.running, kept, 'settings.txt');
    expect(readFileSync(settings, 'utf8')).toBe('port=%PORT%\n');
    const said = JSON.parse((await world.api.send('GET', '/cluster/status')).text);
    expect(said.unreadableRecords ?? []).toEqual([]);
    expect(await world.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const after = await stateOf('state-after');
    const changed = [...state].filter(
      ([name, value]) =>
        KEPT.some((prefix) => name.startsWith(prefix)) &&
        JSON.stringify(after.get(name)) !== JSON.stringify(value),
    );
    expect(changed).toEqual([]);
    expect([...state.keys()].filter((name) => !after.has(name))).toEqual([]);
    await world.start();
    expect(
      runs([...(await world.untilOnline('lobby', 2)), ...(await world.untilOnline('world', 1))]),
    ).toEqual(before);
  });
});
