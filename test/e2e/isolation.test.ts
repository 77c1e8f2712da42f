/**
 * What an instance can reach of Drover and of others. Users can be changed by root alone: without it those tests are
 * skipped. Needs `npm run build`.
 */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { hasTool } from '../support/runtime/process-world.js';

const IS_ROOT = process.getuid?.() === 0;
const MINE = '12345:12346';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

/** Each line names what was tried and ends with `reached` or `refused`. */
function probe(attempts: Readonly<Record<string, string>>): string {
  const lines = Object.entries(attempts).map(
    ([name, attempt]) =>
      `if ${attempt} >/dev/null 2>&1; then echo ${name} reached; else echo ${name} refused; fi`,
  );
  return [...lines, 'echo done', 'exec sleep 1000'].join('\n');
}

async function untilProbed(id: string): Promise<string[]> {
  await world.untilLogged(id, /^done$/);
  return await world.api.logs(id);
}

it("hides the daemon's environment from its instances, and goes on to use it", async () => {
  const extension = join(world.paths.extensions, 'echo');
  mkdirSync(extension, { recursive: true, mode: 0o700 });
  const seen = "context.registerVariable('SEEN', () => process.env.TEST_SECRET)";
  writeFileSync(join(extension, 'index.mjs'), `export default { activate: (context) => ${seen} };`);
  await world.start();
  const attempt = { secret: `grep -q TEST_SECRET /proc/${world.daemon.pid}/environ` };
  world.configure('spy', { command: `echo %SEEN%; ${probe(attempt)}` });
  const [spy] = await world.untilOnline('spy', 1);
  expect(await untilProbed(spy?.id ?? '')).toEqual(['for Drover alone', 'secret refused', 'done']);
  expect(readFileSync(`/proc/${world.daemon.pid}/environ`, 'latin1')).toMatch(/^PATH=/);
});

describe.runIf(IS_ROOT)('runAs', () => {
  beforeEach(() => chmodSync(world.root, 0o755));

  it.each(['process', 'screen', 'tmux'])('keeps an instance of %s to itself', async (runtime) => {
    if (runtime !== 'process' && !hasTool(runtime)) return;
    await world.start();
    world.configure('victim', {
      command: 'echo secret >mine; exec sleep 1000',
      environmentVariables: { A: 'b' },
    });
    world.configure('other', { command: 'echo secret >mine; exec sleep 1000', runAs: '12347:12347' });
    const [victim] = await world.untilOnline('victim', 1);
    const [other] = await world.untilOnline('other', 1);
    const { paths, daemon } = world;
    const closed = {
      'admin key': `cat ${paths.adminKey}`,
      data: `ls ${paths.data}`,
      sockets: `ls ${paths.sockets}`,
      running: `ls ${paths.running}`,
      configurations: `ls ${paths.configurations}`,
      templates: `ls ${paths.templates}`,
      'own log': `cat ${paths.droverLog}`,
      logs: `ls ${paths.instanceLogs}/${victim?.id}`,
      daemon: `cat /proc/${daemon.pid}/environ`,
      'signal of the daemon': `kill -0 ${daemon.pid}`,
      // Groups of other tests go meanwhile, which is not what is asked.
      limits: 'test -n "$(find /sys/fs/cgroup -path "*/drover-*" -writable 2>/dev/null)"',
      ...Object.fromEntries(
        [victim, other].flatMap((one, index) => [
          [`directory ${index}`, `ls ${paths.running}/${one?.id}`],
          [`file ${index}`, `cat ${paths.running}/${one?.id}/mine`],
          [`environment ${index}`, `cat /proc/${one?.processPid}/environ`],
          [`working directory ${index}`, `ls /proc/${one?.processPid}/cwd/`],
        ]),
      ),
    };
    const open = {
      'own directory': 'sh -c \'echo 1 >"$PWD/new" && cat "$PWD/from-template" && test -O folder/deep\'',
      'own terminal': 'sh -c \'echo >/dev/stdout && echo >"$(tty)"\'',
      identity: 'test "$(id -u):$(id -g):$(id -G)" = 12345:12346:12346',
      environment: 'test "$LD_LIBRARY_PATH:$HOME" = "./lib:$PWD" -a -z "$(env | grep DROVER_AS)"',
      'open directories': `test -x ${paths.running}`,
    };
    world.template('spy', 'base', { 'from-template': 'text', 'folder/deep': 'text' });
    world.configure('spy', {
      runtime,
      runAs: MINE,
      command: probe({ ...closed, ...open }),
      environmentVariables: { LD_LIBRARY_PATH: './lib' },
      templateInstallationConfig: { allOf: [{ group: 'spy', name: 'base' }] },
    });
    const [spy] = await world.untilOnline('spy', 1);
    const lines = (await untilProbed(spy?.id ?? '')).filter((line) => line !== '');
    expect(lines).toEqual([
      ...Object.keys(closed).map((name) => `${name} refused`),
      ...Object.keys(open).map((name) => `${name} reached`),
      'done',
    ]);
    // The same attempts without runAs: what the manual says of such instances is so, and none of them is in vain.
    world.configure('free', { command: probe(closed) });
    const [free] = await world.untilOnline('free', 1);
    const missed = (await untilProbed(free?.id ?? '')).filter((line) => line.endsWith(' refused'));
    const isGrouped = readFileSync(`/proc/${free?.processPid}/cgroup`, 'latin1').includes('/drover-');
    expect(missed).toEqual(isGrouped ? [] : ['limits refused']);
    expect(statSync(join(paths.running, spy?.id ?? '')).mode & 0o777).toBe(0o700);
  });

  it('of config.json is the default, and a configuration may name another user, or one that is not there', async () => {
    const { configFile } = world.paths;
    const settings: object = JSON.parse(readFileSync(configFile, 'utf8'));
    writeFileSync(configFile, JSON.stringify({ ...settings, runAs: MINE }));
    await world.start();
    const command = 'echo $(id -u):$(id -g) $USER; echo done; exec sleep 1000';
    world.configure('plain', { command });
    world.configure('named', { command, runAs: 'nobody' });
    world.configure('own', { command, runAs: 'root' });
    world.failing.add('missing');
    world.configure('missing', { command, runAs: 'nobody-here' });
    const said = async (name: string): Promise<string> => {
      const [one] = await world.untilOnline(name, 1);
      return (await untilProbed(one?.id ?? ''))[0] ?? '';
    };
    expect(await said('plain')).toBe('12345:12346');
    expect(await said('named')).toMatch(/^\d+:\d+ nobody$/);
    expect(await said('own')).toMatch(/^0:0/);
    const pids = async (): Promise<unknown> =>
      (await world.api.instances()).map(({ id, processPid }) => `${id} ${processPid}`).sort();
    await world.untilMessage('missing', /runAs nobody-here: this node has no such user in \/etc\/passwd/);
    const before = await pids();
    await world.restart();
    await world.untilMessage('missing', /no such user/);
    expect(await pids()).toEqual(before);
  });
});
