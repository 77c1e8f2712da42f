/** Three masters on etcd, each with its directories: what is edited on one is on all, before and after a failover. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failedOf } from '../support/daemon/daemon.js';
import { hasEtcd } from '../support/etcd/etcd-server.js';
import type { MasterProcess } from '../support/masters/master-process.js';
import { readOn, removeOn, ThreeMasters, writeOn } from '../support/masters/three-masters.js';
import { until } from '../support/until.js';

const WEB = 'configurations/web.json';
const ARENA = 'templates/games/arena';
const MAP = `${ARENA}/map.txt`;

describe.skipIf(!hasEtcd)('the directories of three masters on etcd', () => {
  let masters: ThreeMasters;
  let keys = 0;
  beforeEach(async () => {
    masters = await ThreeMasters.start({ clusterName: 'prod', nodeTimeoutMs: 120_000, maxRamMB: 4096 });
  });
  afterEach(({ task }) => masters.finish(failedOf(task)));

  const content = (name: string, command: string): string =>
    JSON.stringify({ name, command, runtime: 'process', ramMB: 64, cpu: 0, minimumServiceCount: 0 });
  const configure = (master: MasterProcess, name: string, command: string): void =>
    writeOn(master, `configurations/${name}.json`, content(name, command));
  /** Waits until the file of a configuration says this command on these masters. */
  async function untilSaid(on: readonly MasterProcess[], name: string, command: string): Promise<void> {
    for (const master of on)
      await until(() => expect(readOn(master, `configurations/${name}.json`)).toContain(`"${command}"`));
  }
  async function commandOf(master: MasterProcess, name: string): Promise<unknown> {
    const { status, text } = await master.api.send('GET', `/configurations/${name}`);
    expect(status).toBe(200);
    return JSON.parse(text).command;
  }
  async function faultsBy(master: MasterProcess): Promise<unknown[]> {
    const { status, text } = await master.api.send('GET', '/configuration-files/errors');
    expect(status).toBe(200);
    return JSON.parse(text);
  }

  /** A leader that has written an entry of the audit trail. On a busy machine another one may lead at any time. */
  const untilAudited = () =>
    until(async () => {
      const roles = await masters.roles();
      const key = { label: `key-${keys++}`, scope: 'READ' };
      expect(await roles.leader.api.send('POST', '/keys', key)).toMatchObject({ status: 201 });
      const { leader } = await masters.roles();
      expect(leader.nodeId).toBe(roles.leader.nodeId);
      return roles;
    });

  it('of configurations follow each other, whoever leads, and name what two have changed', async () => {
    for (const [n, master] of masters.all.entries()) {
      configure(master, 'web', `sleep 100${n}`);
      await untilSaid(masters.all, 'web', `sleep 100${n}`);
      for (const asked of masters.all)
        await until(async () => expect(await commandOf(asked, 'web')).toBe(`sleep 100${n}`));
    }

    // The leader dies, and files are edited before there is another one.
    const { leader: former, others } = await untilAudited();
    const [second = former, third = former] = others;
    await former.process.end('SIGKILL');
    configure(second, 'web', 'sleep 2000');
    configure(third, 'late', 'sleep 1');
    await untilSaid(others, 'web', 'sleep 2000');
    await untilSaid(others, 'late', 'sleep 1');

    // What was edited on the dead one meanwhile: a file of its own is in force, one that others changed is a conflict.
    configure(former, 'web', 'sleep 3000');
    configure(former, 'mine', 'sleep 4');
    former.spawn();
    await untilSaid(masters.all, 'mine', 'sleep 4');
    await untilSaid([former], 'late', 'sleep 1');
    for (const asked of masters.all)
      await until(async () =>
        expect(await faultsBy(asked)).toEqual([
          expect.objectContaining({
            node: former.nodeId,
            file: 'web.json',
            message: expect.stringContaining('drover apply -f web.json'),
          }),
        ]),
      );
    expect(readOn(former, WEB)).toContain('sleep 3000');
    expect(await commandOf(former, 'web')).toBe('sleep 2000');
    removeOn(former, WEB);
    await untilSaid([former], 'web', 'sleep 2000');
    await until(async () => expect(await faultsBy(third)).toEqual([]));

    // An empty directory removes nothing.
    expect(await third.process.end('SIGTERM')).toEqual({ code: 0, signal: null });
    removeOn(third, 'configurations');
    third.spawn();
    for (const [name, command] of [
      ['web', 'sleep 2000'],
      ['late', 'sleep 1'],
      ['mine', 'sleep 4'],
    ] as const) {
      await untilSaid(masters.all, name, command);
      await until(async () => expect(await commandOf(third, name)).toBe(command));
    }

    // The API of any master writes all directories; and the audit trails of both leaders are one.
    await until(() => third.api.putConfiguration('web', { command: 'sleep 5000', minimumServiceCount: 0 }));
    await untilSaid(masters.all, 'web', 'sleep 5000');
    const { leader } = await untilAudited();
    await until(async () => {
      const { text } = await second.api.send('GET', '/audit');
      for (const { nodeId } of [former, leader]) expect(text).toContain(`"master":"${nodeId}"`);
    });
  });

  it('of configurations have one history, and any master takes a change back', async () => {
    const { leader, others } = await masters.roles();
    const [second = leader, third = leader] = others;
    const historyBy = async (master: MasterProcess): Promise<unknown> => {
      const { status, text } = await master.api.send('GET', '/configurations/web/history');
      expect(status).toBe(200);
      return JSON.parse(text);
    };
    configure(second, 'web', 'sleep 1000');
    await untilSaid(masters.all, 'web', 'sleep 1000');
    await until(() => leader.api.putConfiguration('web', { command: 'sleep 2000', minimumServiceCount: 0 }));
    await untilSaid(masters.all, 'web', 'sleep 2000');
    const first = { number: 1, node: second.nodeId, file: 'web.json', key: null, at: expect.any(Number) };
    // The node is the one that led then: on a busy machine that may be another one by now.
    const other = { number: 2, node: expect.any(String), key: expect.any(String), at: expect.any(Number) };
    for (const asked of masters.all)
      await until(async () =>
        expect(await historyBy(asked)).toMatchObject([
          { ...other, isInForce: true },
          { ...first, isInForce: false },
        ]),
      );

    const reason = 'players fall through the floor';
    const held = await second.api.send('POST', '/configurations/web/rollback', { reason });
    expect(held).toMatchObject({ status: 200 });
    await until(async () =>
      expect(await historyBy(third)).toMatchObject([
        { ...other, isInForce: false, outcome: 'rolled-back', reason },
        { ...first, isInForce: true },
      ]),
    );
    expect(readOn(third, WEB)).toContain('sleep 2000');

    const written = await third.api.send('POST', '/configurations/web/rollback/file', { to: 1, reason });
    expect(written).toMatchObject({ status: 200 });
    await untilSaid(masters.all, 'web', 'sleep 1000');
    await until(async () =>
      expect(await historyBy(second)).toMatchObject([
        { number: 3, node: expect.any(String), key: expect.any(String), isInForce: true },
        { ...other, outcome: 'rolled-back', reason },
        first,
      ]),
    );
  });

  it('of configurations lose most of them at once only when that is confirmed, on whichever master', async () => {
    const {
      others: [follower = expect.fail('no master follows')],
    } = await masters.roles();
    const names = ['v', 'w', 'x', 'y', 'z'];
    for (const name of names) configure(follower, name, 'sleep 1');
    for (const name of names) await untilSaid(masters.all, name, 'sleep 1');
    for (const name of names) removeOn(follower, `configurations/${name}.json`);
    await until(async () => {
      const { status, text } = await follower.api.send('POST', '/configuration-files/reload');
      expect(status).toBe(200);
      expect(text).toContain('`config reload --confirm`');
    });
    expect((await follower.api.configurations()).map(({ name }) => name)).toEqual(names);
    expect(readOn(follower, 'configurations/v.json')).toBeUndefined();
    const confirmed = await follower.api.send('POST', '/configuration-files/reload?confirm=true');
    expect(confirmed).toMatchObject({ status: 200 });
    await until(async () => expect(await follower.api.configurations()).toEqual([]));
    for (const master of masters.all)
      await until(() => expect(readOn(master, 'configurations/v.json')).toBeUndefined());
  });

  it('of templates have what was acknowledged after the death of the leader, and bring back what is missing', async () => {
    const [anyone = expect.fail('there are no masters')] = masters.all;
    const made = await until(async () => {
      const sent = await anyone.api.send('POST', '/templates/games/arena/files/map.txt', 'one');
      expect(sent).toMatchObject({ status: 201 });
      return sent;
    });
    expect(made.text).not.toContain('on this master only');
    const { leader: former, others } = await masters.roles();
    const [second = former, third = former] = others;
    await former.process.end('SIGKILL');
    const web = {
      command: 'cat map.txt; sleep 1000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
      nodes: [third.nodeId],
      minimumServiceCount: 1,
      templateInstallationConfig: {
        allOf: [{ group: 'games', name: 'arena' }],
      },
    };
    await until(() => second.api.putConfiguration('web', web));
    await until(async () => {
      const [instance] = await second.api.instances('web');
      expect(instance).toMatchObject({ state: 'ONLINE', wrapperNodeId: third.nodeId });
      expect(await second.api.logs(instance?.id ?? '')).toContain('"one"');
    });

    // The dead one comes back without its templates, and its directory is a view again.
    removeOn(former, 'templates');
    former.spawn();
    await until(() => expect(readOn(former, MAP)).toBe('"one"'));
    writeOn(former, MAP, 'two');
    for (const master of others) await until(() => expect(readOn(master, MAP)).toBe('two'));
    await until(async () => {
      const { text } = await second.api.send('GET', '/templates/games/arena/files/map.txt');
      expect(text).toBe('two');
    });
    removeOn(former, ARENA);
    for (const master of others) await until(() => expect(readOn(master, MAP)).toBeUndefined());
  });
});
