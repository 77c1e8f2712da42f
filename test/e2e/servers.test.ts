/**
 * The servers of docs/servers.md, started as they stand there; only the ports are others. A server whose package is not
 * installed is skipped. Users other than Drover's own need root.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ConfigurationInput, configurationSchema } from '../../src/model/configuration.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { freePorts } from '../support/free-ports.js';
import { REPOSITORY } from '../support/repository-root.js';
import { until } from '../support/until.js';

/** A file of the page: its path in bold on a line, and its content in a fence. */
const FILE = /^\*\*((?:configurations|templates)\/[^*\n]+)\*\*\n\n```\w*\n(.*?)^```$/gms;
const PROGRAMS: Readonly<Record<string, string>> = {
  nginx: '/usr/sbin/nginx',
  gunicorn: '/usr/bin/gunicorn',
  redis: '/usr/bin/redis-server',
  postgres: '/usr/lib/postgresql/15/bin/postgres',
  mosquitto: '/usr/sbin/mosquitto',
  mumble: '/usr/sbin/murmurd',
  prosody: '/usr/bin/prosody',
  minecraft: '/usr/bin/jar',
  minetest: '/usr/lib/minetest/minetestserver',
  freeciv: '/usr/games/freeciv-server',
};
/** The servers that read their settings again at SIGHUP. */
const RELOADED = ['nginx', 'gunicorn', 'postgres', 'mosquitto', 'prosody'];
const NEEDS_SCREEN = ['minecraft', 'freeciv'];
/** Stands for the server of Minecraft, whose licence has to be accepted by a person. */
const WORLD = `public class Server {
  public static void main(String[] words) throws Exception {
    System.out.println("Done (0.1s)! For help, type help");
    var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
    while (!"stop".equals(in.readLine()));
    java.nio.file.Files.writeString(java.nio.file.Path.of("saved"), "whole");
  }
}`;

const isRoot = process.getuid?.() === 0;
const files = new Map(
  [...readFileSync(join(REPOSITORY, 'docs/servers.md'), 'utf8').matchAll(FILE)].map(
    ([, path = '', text = '']) => [path, text] as const,
  ),
);
const canRun = (name: string): boolean =>
  isRoot &&
  existsSync(PROGRAMS[name] ?? '') &&
  (!NEEDS_SCREEN.includes(name) || existsSync('/usr/bin/screen'));

describe('the servers of the page', () => {
  let world: DaemonWorld;
  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), 'drover-servers-'));
    // Other users must be able to pass through it.
    chmodSync(root, 0o711);
    world = await DaemonWorld.create({ root });
    let port = await freePorts(2 * files.size);
    for (const [path, text] of files) {
      const [, name = ''] = /^(?:configurations|templates\/servers)\/([a-z]+)/.exec(path) ?? [];
      if (!canRun(name)) continue;
      mkdirSync(dirname(join(root, path)), { recursive: true });
      const range = { min: port, max: port + 1 };
      if (path.startsWith('configurations/')) port += 2;
      const ranged = text.replace(/(?<="availablePorts": )\{.*\}/, JSON.stringify(range));
      writeFileSync(join(root, path), ranged);
    }
    // Some stay stopped, and nginx overwrites its environment, which has the mark of the run: the checks at the end
    // would expect neither.
    for (const name of Object.keys(PROGRAMS)) world.failing.add(name);
    if (canRun('minecraft')) makeJar(join(root, 'templates/servers/minecraft'));
    await world.start();
  });
  let isFailed = false;
  afterEach(({ task }) => {
    isFailed ||= failedOf(task).isFailed;
  });
  afterAll(() => world.finish({ isFailed }));

  it('are ten, each with a configuration that a node takes without a warning', () => {
    const names = [...files.keys()].flatMap((path) => /^configurations\/(.*)\.json$/.exec(path)?.[1] ?? []);
    expect(names.toSorted()).toEqual(Object.keys(PROGRAMS).toSorted());
    for (const name of names)
      expect(() => configurationSchema.parse(configurationOf(name)), name).not.toThrow();
  });

  const names = Object.keys(PROGRAMS);
  describe.each(names)('%s', (name) =>
    it.skipIf(!canRun(name))('starts, is ready, and stops in its time', async () => {
      const [instance] = await world.untilOnline(name, configurationOf(name).minimumServiceCount ?? 0);
      const id = instance?.id ?? '';
      expect(await world.api.send('GET', `/configurations/${name}/why`)).toMatchObject({ status: 200 });
      if (RELOADED.includes(name)) {
        const told = await world.api.send('POST', `/instances/${id}/signal`, { signal: 'SIGHUP' });
        expect(told).toMatchObject({ status: 200 });
        expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE', restarts: 0 });
      }
      // Right after a reload, gunicorn waits 30 s for a new worker that its own signal came too early for.
      if (name === 'gunicorn') return;
      await world.api.lifecycle(id, 'stop');
      // What is not static goes with its files, and another one takes its place.
      await until(async () => {
        const { status, text } = await world.api.send('GET', `/instances/${id}`);
        if (status !== 404) expect(JSON.parse(text)).toMatchObject({ state: 'STOPPED' });
      });
      expect(readFileSync(join(root(), 'logs/drover.log'), 'utf8')).not.toMatch(new RegExp(`${id}.*SIGKILL`));
      if (name === 'minecraft')
        expect(readFileSync(join(root(), 'running', id, 'saved'), 'utf8')).toBe('whole');
    }),
  );

  function root(): string {
    return world.root;
  }
});

function configurationOf(name: string): ConfigurationInput {
  return JSON.parse(files.get(`configurations/${name}.json`) ?? '{}');
}

function makeJar(directory: string): void {
  const build = mkdtempSync(join(tmpdir(), 'drover-jar-'));
  writeFileSync(join(build, 'Server.java'), WORLD);
  execFileSync('javac', ['Server.java'], { cwd: build });
  execFileSync('jar', ['cfe', join(directory, 'server.jar'), 'Server', 'Server.class'], { cwd: build });
  rmSync(build, { recursive: true });
}
