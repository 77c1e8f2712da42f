/**
 * A master and three wrappers on hosts of their own: everything that works on one node works across hosts, and what
 * must hold when a host is cut off, killed or drained. Needs root, iproute2 and `npm run build`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HostWorld } from '../support/cluster/host-world.js';
import { Hosts } from '../support/cluster/hosts.js';
import { until } from '../support/until.js';

const WRAPPERS = ['one', 'two', 'three'];
const reason = Hosts.reasonForNone();

describe.skipIf(reason !== undefined)(
  `hosts joined by a network${reason === undefined ? '' : `: ${reason}`}`,
  () => {
    let world: HostWorld;
    beforeAll(async () => {
      world = await HostWorld.start(WRAPPERS);
    });
    afterAll(() => world?.close());

    /** A configuration that runs on the wrappers, as many as there are hosts or as said. */
    const spread = (name: string, fields: { command: string; [field: string]: unknown }): void =>
      world.configure(name, { nodes: WRAPPERS, minimumServiceCount: WRAPPERS.length, ...fields });
    /** Pids by instance, of each host. What is ONLINE may not have begun its program yet, which shows whose it is. */
    const untilEachRuns = (hosts: readonly string[]): Promise<Map<string, number>[]> =>
      until(async () => {
        const running = await Promise.all(hosts.map((host) => world.running(host)));
        expect(running.map(({ size }) => size)).toEqual(hosts.map(() => 1));
        return running;
      });
    afterEach(async () => {
      for (const host of WRAPPERS) world.hosts.join(host);
      await world.untilConnected(['master', ...WRAPPERS]);
      await world.dismissAll();
    });

    it('serves log, live log and standard input of an instance on another host, and gives it its template anew', async () => {
      const template = join(world.paths('master').templates, 'app', 'base');
      mkdirSync(template, { recursive: true });
      writeFileSync(join(template, 'version'), 'one');
      spread('reader', {
        command: 'cat version; echo; while read -r line; do echo "got $line"; done',
        minimumServiceCount: 1,
        nodes: ['two'],
        templateInstallationConfig: { allOf: [{ group: 'app', name: 'base' }] },
      });
      const [reader] = await world.untilOnline('reader', 1);
      const id = reader?.id ?? '';
      expect(reader).toMatchObject({ wrapperNodeId: 'two', hostAddress: world.hosts.addressOf('two') });
      const live = await world.liveLog(id, '?since=1');
      await until(() => expect(live.texts).toContain('one'));
      await world.api.execute(id, 'hello');
      await until(() => expect(live.texts).toContain('got hello'));
      expect(await world.api.logs(id)).toContain('got hello');
      writeFileSync(join(template, 'version'), 'second');
      await until(async () => {
        await world.api.lifecycle(id, 'restart');
        await world.untilOnline('reader', 1);
        expect(live.texts).toContain('second');
      });
      expect(await world.command(`instance info ${id}`)).toContain('two');
    });

    it('replaces what a cut-off host held, and takes it back unharmed in place of its replacement when the network heals', async () => {
      spread('service', { command: 'exec sleep 1000' });
      const before = await world.untilOnline('service', 3);
      const victim = before.find(({ wrapperNodeId }) => wrapperNodeId === 'one');
      expect(victim, 'one of three on each host').toBeDefined();
      const [pids] = await untilEachRuns(['one']);
      world.hosts.cut('one');
      await until(async () => {
        const during = await world.untilOnline('service', 3);
        expect(during.map(({ wrapperNodeId }) => wrapperNodeId)).not.toContain('one');
      });
      expect((await world.api.instance(victim?.id ?? '')).state).toBe('OFFLINE');
      expect(await world.running('one')).toEqual(pids);
      world.hosts.join('one');
      await world.untilConnected(['master', ...WRAPPERS]);
      // Its replacement, which nobody uses, goes.
      await until(async () => {
        const ids = (await world.untilOnline('service', 3)).map(({ id }) => id);
        expect(ids.toSorted()).toEqual(before.map(({ id }) => id).toSorted());
      });
      expect(await world.running('one')).toEqual(pids);
      expect((await world.api.instance(victim?.id ?? '')).restarts).toBe(0);
    });

    it('keeps instances through the death of their wrapper and of the master', async () => {
      spread('steady', { command: 'exec sleep 1000' });
      await world.untilOnline('steady', 3);
      const before = await untilEachRuns(WRAPPERS);
      await Promise.all([world.end('two', 'SIGKILL'), world.end('master', 'SIGKILL')]);
      world.spawn('master');
      world.spawn('two');
      await until(() => world.api.instances());
      await world.untilConnected(['master', ...WRAPPERS]);
      await world.untilOnline('steady', 3);
      expect(await Promise.all(WRAPPERS.map((host) => world.running(host)))).toEqual(before);
    });

    it('drains a host: a replacement is up before the instance ends', async () => {
      spread('moving', { command: 'exec sleep 1000' });
      const before = await world.untilOnline('moving', 3);
      const fewest = { online: 3 };
      await world.command('cluster drain three');
      await until(async () => {
        const online = (await world.api.instances('moving')).filter(({ state }) => state === 'ONLINE');
        fewest.online = Math.min(fewest.online, online.length);
        expect(online.map(({ wrapperNodeId }) => wrapperNodeId)).not.toContain('three');
        expect((await world.running('three')).size).toBe(0);
      });
      expect(before.some(({ wrapperNodeId }) => wrapperNodeId === 'three')).toBe(true);
      expect(fewest.online).toBe(3);
      await world.untilOnline('moving', 3);
      await world.command('cluster uncordon three');
    });
  },
);
