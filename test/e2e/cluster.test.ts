/** Two machines' worth of daemons: a master, and a wrapper that joins it by token and does all that a node does. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nameOfTree } from '../../src/templates/transfer/tree-record.js';
import { SocketClient } from '../support/api/socket-client.js';
import { drover, Member } from '../support/cluster/member.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { cachedTrees } from '../support/templates/cached-trees.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
let member: Member;
beforeEach(async () => {
  // A start may take longer than the default on a busy machine, and nothing is to be replaced here.
  world = await DaemonWorld.create({ settings: { clusterName: 'prod', nodeTimeoutMs: 120_000 } });
  member = await Member.create();
});
afterEach(async ({ task }) => {
  if (failedOf(task).isFailed)
    console.log(`--- member
${member.output}`);
  await member.finish();
  await world.finish(failedOf(task));
});

const master = (): string => `127.0.0.1:${world.apiPort + 1}`;

const command = async (text: string): Promise<string> => {
  const { text: body } = await world.api.send('POST', '/commands/execute', { command: text });
  return JSON.parse(body).output;
};

/** The trees in the member's cache that have this greeting. Throws when there is none. */
const treesWith = async (greeting: string): Promise<string[]> => {
  const trees = await cachedTrees(member.paths.templateCache);
  const found = [...trees.keys()].filter((digest) => trees.get(digest)?.['hello.txt'] === greeting);
  expect(found).not.toEqual([]);
  return found;
};

const untilNode = (condition: string): Promise<void> =>
  until(async () => {
    expect(JSON.parse(await command('cluster nodes -o json'))).toContainEqual(
      expect.objectContaining({ nodeId: 'far', condition, master: false }),
    );
  });

it('joins by token, runs what is placed there, and keeps it through kills of either side', async () => {
  await world.start();
  const [token = ''] = (await drover('token', '--root', world.root, '--uses', '1')).split('\n');
  expect(await member.join(token, master(), 'far')).toContain('makes this node far, at 127.0.0.1');
  member.start();
  await untilNode('connected');
  await until(() => expect(member.daemon.stdout).toContain(`master   ${master()}, connected`));
  const kept = readFileSync(member.paths.configFile, 'utf8');
  expect([kept.includes(token), kept.includes('"clusterName": "prod"')]).toEqual([false, true]);

  // A template, variables, the log and standard input, across hosts.
  world.template('group', 'greeting', { 'hello.txt': 'hello from %NODE_ID% by %MASTER_PORT%' });
  const service = {
    command: 'cat hello.txt; echo; echo "$DROVER_API_URL"; while read -r line; do echo "got $line"; done',
    nodes: ['far'],
    minimumServiceCount: 1,
    fileModifications: ['hello.txt'],
    templateInstallationConfig: { allOf: [{ group: 'group', name: 'greeting' }] },
  };
  world.configure('service', service);
  const [instance] = await world.untilOnline('service', 1);
  const { id, processPid } = instance ?? expect.fail('there is no instance');
  expect(instance).toMatchObject({ wrapperNodeId: 'far' });
  await world.untilLogged(id, new RegExp(`^hello from far by ${world.apiPort + 1}$`));
  await world.untilLogged(id, new RegExp(`^http://127.0.0.1:${world.apiPort}/api$`));
  const live = await SocketClient.open(`http://127.0.0.1:${world.apiPort}/api/instances/${id}/live-log`, {
    token: readFileSync(world.paths.adminKey, 'utf8').trim(),
  });
  await world.api.execute(id, 'a "line" $HOME');
  await until(() => expect(live.texts.join('\n')).toContain('got a "line" $HOME'));
  live.websocket.terminate();
  await world.untilLogged(id, /^got a "line" \$HOME$/);

  // Its process lives on without its daemon, and without the master.
  await member.daemon.end('SIGKILL');
  member.start();
  await until(async () => {
    expect(member.daemon.stdout).toContain(`adopted ${id}`);
    expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE', processPid });
  });
  await world.kill();
  await until(() => expect(member.daemon.stdout).toContain('no connection to the master'));
  await member.daemon.end('SIGTERM');
  member.start();
  await until(() => {
    expect(member.daemon.stdout).toContain(`master   ${master()}, NOT connected`);
    expect(member.daemon.stdout).toContain(`${id}  service  ONLINE`);
  });
  await world.start();
  await untilNode('connected');
  await until(async () =>
    expect(await world.api.instance(id)).toMatchObject({ state: 'ONLINE', processPid, restarts: 0 }),
  );

  // A crash while the master is away and a template has changed: the node fetched the change ahead, and where it lost
  // it, takes the files of the last install.
  world.template('group', 'greeting', { 'hello.txt': 'changed' });
  const [changed = ''] = await until(() => treesWith('changed'));
  await world.kill();
  await member.daemon.end('SIGTERM');
  rmSync(join(member.paths.templateCache, nameOfTree(changed)), { recursive: true });
  member.start();
  await until(() => expect(member.daemon.stdout).toContain(`adopted ${id}`));
  process.kill(processPid ?? 0, 'SIGKILL');
  await until(() => {
    expect(member.daemon.stdout).toContain(`${id} (service) runs with the files of its last install`);
    expect(member.daemon.stdout).toContain(`started ${id} (service)`);
  });
  await world.start();
  await until(async () =>
    expect(await world.api.instance(id)).toMatchObject({
      state: 'ONLINE',
      restarts: 1,
      message: expect.stringContaining('template group/greeting changed, and the master is not connected'),
    }),
  );
  await until(() => treesWith('changed'));

  // Forgotten, it is out at once, and ends as a failure: nothing runs there, and it cannot come back by itself.
  await world.api.removeConfiguration('service');
  await world.api.remove(id);
  await until(async () => expect(await member.processes.marked()).toEqual([]));
  expect(await command('cluster forget far --force')).toContain('far');
  await until(() => expect(member.daemon.isRunning).toBe(false));
  expect(await member.daemon.ended).toEqual({ code: 1, signal: null });
  expect(member.daemon.stderr).toBe(
    `drover: the master at ${master()} refuses this node: node far is not a member any more (cluster forget): join it again with a new token\n`,
  );
});
