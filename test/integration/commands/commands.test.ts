/** Every command, over a real master, a wrapper and real configuration files in one process. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configurationSchema } from '../../../src/model/configuration.js';
import { refusal } from '../../support/api/refusal.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

let world: CommandWorld;
beforeEach(async () => {
  world = await CommandWorld.create();
});
afterEach(() => world.stop());

/** The cells of a table, by line. Two blanks part two columns. */
const cells = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

async function oneInstance(): Promise<string> {
  await world.configure('lobby', { minimumServiceCount: 1, availablePorts: { min: 30_000, max: 30_009 } });
  const [record] = await world.untilOnline('lobby', 1);
  if (record === undefined) throw new Error('no instance');
  return record.id;
}

describe('instance list', () => {
  it('says when there is none', async () => {
    expect(await world.run('instance list')).toBe('there are no instances\n');
    expect(await world.json('instance list')).toEqual([]);
  });

  it('shows state, node, address, pid, age, restarts and message, sorted by configuration', async () => {
    await world.configure('lobby', { minimumServiceCount: 2, availablePorts: { min: 30_000, max: 30_009 } });
    await world.configure('big', { minimumServiceCount: 1, ramMB: 5000 });
    await world.untilOnline('lobby', 2);
    await until(() =>
      expect(
        world.plane.records().find(({ configurationName }) => configurationName === 'big')?.status.message,
      ).toContain('short of RAM'),
    );
    const [head, ...rows] = cells(await world.run('instance list'));
    expect(head).toEqual([
      'ID',
      'CONFIGURATION',
      'STATE',
      'NODE',
      'ADDRESS',
      'PID',
      'AGE',
      'RESTARTS',
      'MESSAGE',
    ]);
    expect(rows[0]).toEqual([
      expect.stringMatching(/^[a-z0-9]{6}$/),
      'big',
      'CREATING',
      expect.stringMatching(/^[\d.]+ s$/),
      '0',
      expect.stringContaining('short of RAM (need 5000 MB'),
    ]);
    expect(
      rows
        .slice(1)
        .map((row) => row.slice(1, 5).join(' '))
        .toSorted(),
    ).toEqual(['lobby ONLINE alpha 127.0.0.1:30000', 'lobby ONLINE alpha 127.0.0.1:30001']);
  });

  it('prints for programs what the API answers, all of it and nothing else', async () => {
    const id = await oneInstance();
    expect(await world.json('instance list')).toEqual([
      expect.objectContaining({ id, configurationName: 'lobby', state: 'ONLINE', allocatedPort: 30_000 }),
    ]);
  });

  it('shows those of one configuration, and names the nearest one for a name that is none', async () => {
    const id = await oneInstance();
    await world.configure('other');
    expect(cells(await world.run('instance list lobby'))[1]?.[0]).toBe(id);
    expect(await world.run('instance list other')).toBe('other has no instances\n');
    expect(await world.run('instance list loby')).toBe(
      'error: there is no configuration "loby". Did you mean lobby?\n',
    );
  });

  it('breaks messages at the width of the terminal, and cuts none', async () => {
    await world.configure('big', { minimumServiceCount: 1, ramMB: 5000 });
    await until(() => expect(world.plane.records()[0]?.status.message).toContain('RAM'));
    const lines = (await world.run('instance list', { columns: 90 })).trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(90);
    expect(lines.length).toBeGreaterThan(2);
  });
});

describe('instance info', () => {
  it('shows everything worth knowing, a line each', async () => {
    const id = await oneInstance();
    const text = await world.run(`instance info ${id}`);
    expect(text).toMatch(new RegExp(`^id +${id}\nconfiguration +lobby\nstate +ONLINE\nwanted +run\n`));
    expect(text).toMatch(/^address +127\.0\.0\.1:30000$/m);
    expect(await world.json(`instance info ${id}`)).toMatchObject({ id, state: 'ONLINE' });
  });

  it('says that an instance is older than what is in force', async () => {
    const id = await oneInstance();
    await world.configure('lobby', { minimumServiceCount: 1, ramMB: 50 });
    expect(await world.run(`instance info ${id}`)).toContain('older than what is in force');
  });

  it('names the nearest id for one that is none', async () => {
    const id = await oneInstance();
    const error = `error: there is no instance "${id.slice(0, 4)}". Did you mean ${id}?\n`;
    expect(await world.run(`instance info ${id.slice(0, 4)}`)).toBe(error);
    expect(await world.run('instance info ------')).toMatch(/^error: /);
  });
});

describe('instance create', () => {
  it('creates one and says where it is', async () => {
    await world.configure('lobby', { availablePorts: { min: 30_000, max: 30_009 } });
    expect(await world.run('instance create lobby')).toMatch(
      /^created [a-z0-9]{6} \(lobby\) on node alpha, 127\.0\.0\.1:30000\n$/,
    );
    await world.untilOnline('lobby', 1);
  });

  it('creates five and prints each', async () => {
    await world.configure('lobby');
    const lines = (await world.run('instance create lobby 5')).trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    const records = await world.untilOnline('lobby', 5);
    expect(lines.map((line) => line.split(' ')[1]).toSorted()).toEqual(
      records.map(({ id }) => id).toSorted(),
    );
    expect(await world.json('instance create lobby 2')).toHaveLength(2);
  });

  it.each(['0', '101', '-1', '1.5', 'many', '1e2', '99999999999'])('refuses a count of %s', async (count) => {
    await world.configure('lobby');
    expect(await world.run(`instance create lobby ${count}`)).toMatch(/^error: .+\n$/);
    expect(world.plane.records()).toEqual([]);
  });

  it('says why an instance waits', async () => {
    await world.configure('big', { ramMB: 5000 });
    expect(await world.run('instance create big')).toMatch(
      /^created \w{6} \(big\), waiting: 0\/1 nodes fit: /,
    );
  });

  it('stops at the maximum and says what had been created until then', async () => {
    await world.configure('lobby', { maximumServiceCount: 2 });
    expect(await world.run('instance create lobby 3')).toMatch(
      /^error: 2 of 3 instances were created \(\w{6}, \w{6}\), then: configuration lobby has 2 instances and allows 2/,
    );
  });

  it('names the nearest configuration', async () => {
    await world.configure('lobby');
    expect(await world.run('instance create lobbi')).toBe(
      'error: there is no configuration "lobbi". Did you mean lobby?\n',
    );
    expect(await world.run('instance create nothing-like-it')).toBe(
      'error: there is no configuration "nothing-like-it": "config list" shows all\n',
    );
  });
});

describe('instance stop, start, restart, delete', () => {
  it('change what is wanted, and it happens', async () => {
    const id = await oneInstance();
    expect(await world.run(`instance stop ${id}`)).toBe(
      `instance ${id}: stop requested; another one is made in its place, because minimumServiceCount of lobby is 1: lower it to have fewer\n`,
    );
    const stateOf = (): string | undefined => world.plane.master.state.instances.get(id)?.value.status.state;
    await until(() => expect(stateOf()).toBe('STOPPED'));
    expect(await world.json(`instance start ${id}`)).toMatchObject({ instanceId: id, target: 'start' });
    await until(() => expect(stateOf()).toBe('ONLINE'));
    const starts = world.node.runtime.starts.length;
    expect(await world.run(`instance restart ${id}`)).toBe(`instance ${id}: restart requested\n`);
    await until(() => expect(world.node.runtime.starts.length).toBeGreaterThan(starts));
    expect(await world.run(`instance delete ${id}`)).toContain(`instance ${id} is being removed`);
    expect(await world.run(`instance info ${id}`)).toContain('there is no instance');
  });

  it.each(['stop', 'start', 'restart', 'delete'])(
    '%s of an unknown instance changes nothing',
    async (word) => {
      expect(await world.run(`instance ${word} nobody`)).toBe(
        'error: there is no instance "nobody": "instance list" shows all\n',
      );
    },
  );
});

describe('instance logs', () => {
  it('prints the last lines, without what could steer a terminal', async () => {
    const id = await oneInstance();
    world.lines = ['one', '\x1b[31mtwo\x1b[0m\x07', '\x1b]0;owned\x07three', '\x9b2Jfour'];
    expect(await world.run(`instance logs ${id}`)).toBe('one\ntwo\nthree\nfour\n');
    expect(await world.run(`instance logs ${id} --lines 1`)).toBe('four\n');
    expect(await world.run(`instance logs -n 1 ${id}`)).toBe('four\n');
    expect(await world.json(`instance logs ${id}`)).toEqual({
      instanceId: id,
      lines: ['one', 'two', 'three', 'four'],
      totalLines: 4,
    });
  });

  it('prints nothing when there are no lines', async () => {
    expect(await world.run(`instance logs ${await oneInstance()}`)).toBe('');
  });

  it('prints a part of the log with its times, and says what is missing', async () => {
    const id = await oneInstance();
    world.range = {
      first: 2,
      last: 6,
      firstLine: 5,
      lines: ['five', '\x1b[31msix'],
      times: [
        [5, null],
        [6, 1_769_860_805],
      ],
      untimedLines: 4,
      totalLines: 8,
      isUnfinished: false,
    };
    const notes =
      '[drover] when 4 lines were written is not known\n' +
      '[drover] lines 2 to 4 are left out: see them with --until 4\n';
    expect(await world.run(`instance logs ${id} --since 10m`)).toBe(`${notes}five\nsix\n`);
    expect(await world.run(`instance logs ${id} -t -n 2 --until 2026-01-31T12:00:05Z --previous`)).toBe(
      `${notes}- five\n2026-01-31T12:00:05Z six\n`,
    );
    expect(await world.json(`instance logs ${id} --since 3 --timestamps`)).toEqual({
      instanceId: id,
      lines: ['five', 'six'],
      totalLines: 8,
      firstLine: 5,
      range: { first: 2, last: 6 },
      untimedLines: 4,
      times: [null, '2026-01-31T12:00:05Z'],
    });
    expect(world.parts).toEqual([
      { lines: 1000, since: { ago: 600_000 }, until: undefined, previous: false },
      { lines: 2, since: undefined, until: { at: Date.UTC(2026, 0, 31, 12, 0, 5) }, previous: true },
      { lines: 1000, since: { line: 3 }, until: undefined, previous: false },
    ]);
  });

  it('names the fix for a time that is none', async () => {
    const id = await oneInstance();
    expect(await world.run(`instance logs ${id} --since yesterday`)).toMatch(
      /^error: .*It must be a time such as 2026-01-31T12:00:00Z, an age such as .* from 1 on\.\n$/,
    );
    expect(await world.run(`instance logs ${id} --until 2026-01-31T12:00:00`)).toContain(
      'end it with Z for UTC',
    );
    expect(await world.run(`instance logs ${id} --since 1m --until 2m`)).toContain(
      'exchange since and until',
    );
  });

  it.each(['0', '1001', 'all'])('refuses %s lines', async (lines) => {
    const id = await oneInstance();
    expect(await world.run(`instance logs ${id} --lines ${lines}`)).toMatch(
      /^error: .*It must be a whole number from 1 to 1000\.\n$/,
    );
  });
});

describe('instance signal', () => {
  it('goes to the main process, and with --all to every process', async () => {
    const id = await oneInstance();
    expect(await world.run(`instance signal ${id} SIGHUP`)).toBe(`SIGHUP sent to instance ${id}\n`);
    await world.run(`instance signal ${id} SIGUSR1 --all`);
    expect(world.signals).toEqual([`${id} SIGHUP main`, `${id} SIGUSR1 all`]);
    expect(await world.run(`instance signal ${id} SIGKILL`)).toMatch(/SIGHUP, SIGUSR1/);
  });
});

describe('instance execute', () => {
  it('sends exactly what was typed, with a newline', async () => {
    const id = await oneInstance();
    expect(await world.run(`instance execute ${id} say  "two  words" --now`)).toBe(
      `command sent to instance ${id}\n`,
    );
    await world.run(`instance execute ${id} "stop all"`);
    expect(world.stdin).toEqual([
      { id, text: 'say  "two  words" --now\n' },
      { id, text: 'stop all\n' },
    ]);
  });

  it('is refused when the instance is not running, or the line too long', async () => {
    const id = await oneInstance();
    expect(await world.run(`instance execute ${id} ${'x'.repeat(5000)}`)).toMatch(/^error: .*4000/);
    await world.run(`instance stop ${id}`);
    await until(async () =>
      expect(await world.run(`instance execute ${id} hi`)).toMatch(
        /^error: .*is STOPPED and takes no commands/,
      ),
    );
    expect(world.stdin.filter(({ text }) => text !== 'hi\n')).toEqual([]);
  });

  it('has one entry in the audit trail, also where it makes several calls that write', async () => {
    await world.configure('lobby');
    await world.run('instance create lobby 3');
    expect(world.audit).toEqual([
      {
        key: 'tester',
        action: 'command',
        subject: 'instance create lobby 3',
        address: '127.0.0.1',
        result: 'ok',
      },
    ]);
  });

  it('leaves what was typed out of the audit trail', async () => {
    const id = await oneInstance();
    await world.run(`instance execute ${id} login hunter2`);
    expect(world.audit.at(-1)).toEqual({
      key: 'tester',
      action: 'command',
      subject: `instance execute ${id} ***`,
      address: '127.0.0.1',
      result: 'ok',
    });
  });
});

describe('config list', () => {
  it('shows what is in force, and broken files with line and reason', async () => {
    await world.configure('lobby', { minimumServiceCount: 1, availablePorts: { min: 30_000, max: 30_009 } });
    await world.untilOnline('lobby', 1);
    world.writeFile('lobby.json', '{\n  "name": "lobby",\n  "command": 7\n}');
    world.writeFile('new.json', '{\n "name": }');
    await world.run('config reload');
    const text = await world.run('config list');
    expect(cells(text).slice(0, 2)).toEqual([
      ['NAME', 'RUNTIME', 'ONLINE', 'INSTANCES', 'MINIMUM', 'RAM', 'CPU', 'PORTS', 'FILE', 'STATUS'],
      ['lobby', 'process', '1', '1', '1', '100 MB', '10', '30000-30009', 'lobby.json', 'Broken file'],
    ]);
    expect(text).toMatch(
      /\n\nbroken files .*:\n {2}lobby\.json:3:14: command: .*\n {2}new\.json:2:10: .*\n$/,
    );
    expect(await world.json('config list')).toMatchObject({
      configurations: [{ name: 'lobby', online: 1, isFileBroken: true }],
      brokenFiles: [{ file: 'lobby.json', line: 3, field: 'command' }, { file: 'new.json' }],
    });
  });

  it('shows what files say without effect, and so do config why, instance why and config reload', async () => {
    const fields = {
      command: 'serve %PORT%',
      restartPolcy: 'never',
      runtime: 'process',
      ramMB: 100,
      cpu: 10,
    };
    world.writeFile('lobby.json', JSON.stringify(fields, null, 1));
    const port =
      'lobby.json:2:13: command: %PORT% stays as it is: without availablePorts the instance has no port';
    const policy =
      'lobby.json:3:2: restartPolcy: unknown field, has no effect; did you mean "restartPolicy"?';
    const reloaded = await world.run('config reload');
    expect(reloaded).toContain(`warnings (in force, but without the effect that was meant):\n  ${port}\n`);
    await world.untilOnline('lobby', 1);
    const text = await world.run('config list');
    expect(cells(text)[1]?.at(-1)).toBe('Healthy, 2 warnings');
    expect(text).toContain(`\n  lobby: ${port}\n  lobby: ${policy}\n`);
    expect(await world.json('config list')).toMatchObject({
      configurations: [{ name: 'lobby', warnings: [port, policy] }],
    });
    const notes = [`Warning: ${port}.`, `Warning: ${policy}`];
    expect(await world.json('config why lobby')).toMatchObject({ notes, isSettled: true });
    const [{ id = '' } = {}] = world.plane.records();
    expect(await world.json(`instance why ${id}`)).toMatchObject({ notes });
    await world.configure('lobby');
    expect(cells(await world.run('config list'))[1]?.at(-1)).toBe('Healthy, 1 outdated');
  });

  it('says when there is nothing', async () => {
    expect(await world.run('config list')).toBe('there are no configurations\n');
  });
});

describe('config show', () => {
  it('prints the content in force, with every default', async () => {
    await world.configure('lobby', { ramMB: 77 });
    const text = await world.run('config show lobby');
    expect(JSON.parse(text)).toMatchObject({ name: 'lobby', ramMB: 77, static: false });
    expect(await world.json('config show lobby')).toEqual(JSON.parse(text));
    expect(await world.run('config show lobbyy')).toContain('Did you mean lobby?');
  });
});

describe('config show of the fields whose defaults are not stored', () => {
  it('prints what the file leaves out, and what it says', async () => {
    await world.configure('lobby');
    await world.configure('slow', { stopSignal: 'SIGINT', stopTimeoutSeconds: 90, restartPolicy: 'never' });
    expect(await world.json('config show lobby')).toMatchObject({
      placement: 'spread',
      stopSignal: 'SIGTERM',
      stopTimeoutSeconds: 10,
      restartPolicy: 'always',
    });
    expect(await world.json('config show slow')).toMatchObject({
      stopSignal: 'SIGINT',
      stopTimeoutSeconds: 90,
      restartPolicy: 'never',
    });
  });

  it('prints every field of the schema, but those whose absence means none', async () => {
    await world.configure('lobby');
    const shown = Object.keys(z.record(z.string(), z.unknown()).parse(await world.json('config show lobby')));
    const absent = Object.keys(configurationSchema.shape).filter((field) => !shown.includes(field));
    expect(absent).toEqual([
      'limits',
      'hostAddress',
      'availablePorts',
      'ports',
      'sharePort',
      'maximumServiceCount',
      'fileEdits',
      'secretFiles',
      'maskSecrets',
      'prepare',
      'after',
      'runAs',
      'stopCommand',
      'readiness',
      'liveness',
      'expose',
      'update',
      'waitsFor',
      'job',
      'schedules',
      'windows',
      'managed',
    ]);
  });

  it('leaves the stored content and its revision as they are', async () => {
    await world.configure('lobby');
    await world.run('config show lobby');
    const record = world.plane.master.state.configurations.get('lobby')?.value;
    expect(record?.configuration).not.toHaveProperty('stopSignal');
  });
});

describe('config reload', () => {
  it('reads all files now and says what changed and what is broken', async () => {
    world.writeFile(
      'a.json',
      '{"name": "a", "runtime": "process", "command": "run", "minimumServiceCount": 0}',
    );
    world.writeFile(
      'b.json',
      '{"name": "b", "runtime": "process", "command": "run", "minimumServiceCount": 0}',
    );
    expect(await world.run('config reload')).toBe('added: a, b\n2 configurations are in force\n');
    expect(await world.run('config reload')).toBe('nothing changed; 2 configurations are in force\n');
    world.writeFile(
      'a.json',
      '{"name": "a", "runtime": "process", "command": "other", "minimumServiceCount": 0}',
    );
    rmSync(join(world.root, 'configurations', 'b.json'));
    world.writeFile('c.json', '{');
    const text = await world.run('config reload');
    expect(text).toMatch(
      /^changed: a\nremoved: b\n1 configuration is in force\nbroken files .*\n {2}c\.json:1:2: /,
    );
    expect(await world.json('config reload')).toMatchObject({
      added: [],
      changed: [],
      removed: [],
      brokenFiles: [{ file: 'c.json' }],
    });
  });
});

describe('instances that outlived their configuration', () => {
  it('are named by config list, config why and cluster status', async () => {
    const id = await oneInstance();
    rmSync(join(world.root, 'configurations', 'lobby.json'));
    await world.run('config reload');
    const left = [{ name: 'lobby', instances: 1 }];
    expect(await world.run('config list')).toBe(
      'there are no configurations\n\nconfigurations that are gone ("config why <name>" says what to do):\n  lobby: 1 instance\n',
    );
    expect(await world.json('config list')).toMatchObject({ removed: left });
    expect(await world.run('cluster status')).toMatch(/^lobby +Deleted +1 instance left$/m);
    expect(await world.json('cluster status')).toMatchObject({ removed: left });
    expect(await world.run('config why lobby')).toContain('lobby was removed: 1 instance of it is left.');
    await world.run(`instance delete ${id}`);
    await until(() => expect(world.plane.records()).toEqual([]));
    expect(await world.json('config list')).toMatchObject({ removed: [] });
    expect(await world.run('config why lobby')).toContain('there is no configuration');
  });
});

describe('config diff', () => {
  it('says that all agrees', async () => {
    await world.configure('lobby', { minimumServiceCount: 1 });
    await world.untilOnline('lobby', 1);
    expect(await world.run('config diff lobby')).toBe(
      'lobby.json is in force as it stands\n1 instance made from what is in force, none from older content\n',
    );
  });

  it('shows which instances have older content, and which fields differ', async () => {
    const id = await oneInstance();
    await world.configure('lobby', { minimumServiceCount: 1, ramMB: 120, properties: { motd: 'hi' } });
    const text = await world.run('config diff lobby');
    expect(text).toMatch(
      new RegExp(
        `^lobby.json is in force as it stands\\n0 instances made from what is in force\\n` +
          `1 instance made from older content \\(revision [0-9a-f]{8}\\): ${id}\\n` +
          '  availablePorts.max: 30009 -> -\\n  availablePorts.min: 30000 -> -\\n' +
          '  properties.motd: - -> "hi"\\n  ramMB: 100 -> 120\\n',
      ),
    );
    expect(await world.json('config diff lobby')).toMatchObject({
      fileState: 'same',
      olderInstances: [
        {
          instanceIds: [id],
          differences: expect.arrayContaining([{ field: 'ramMB', before: '100', after: '120' }]),
        },
      ],
    });
  });

  it('shows a file that is broken, read anew', async () => {
    await world.configure('lobby');
    world.writeFile('lobby.json', '{ "name": "lobby", "command": 7 }');
    expect(await world.run('config diff lobby')).toMatch(
      /^lobby\.json is broken; what it said before is in force:\n {2}lobby\.json:1:31: command: /,
    );
  });
});

describe('config history', () => {
  it('shows who brought each content, and how it ended', async () => {
    await world.configure('lobby', { ramMB: 100 });
    await world.run('config scale lobby 1', { access: null });
    await world.untilOnline('lobby', 1);
    const [head, newest, first, ...rest] = (await world.run('config history lobby')).trimEnd().split('\n');
    expect(head).toMatch(/^# +AGE +FROM +OUTCOME +INSTANCES +REVISION$/);
    expect(newest).toMatch(/^2 \* +[\d.]+ s +lobby\.json, key terminal +in force +1 +[0-9a-f]{8}$/);
    expect(first).toMatch(/^1 +[\d.]+ s +lobby\.json +replaced +0 +[0-9a-f]{8}$/);
    expect(rest).toEqual([]);
  });

  it('lets two contents be compared, and names those that are kept', async () => {
    await world.configure('lobby', { ramMB: 100 });
    await world.configure('lobby', { ramMB: 200 });
    await world.configure('lobby', { ramMB: 100 });
    expect(await world.run('config diff lobby 1 2')).toBe('lobby: content 1 -> 2\n  ramMB: 100 -> 200\n');
    expect(await world.run('config diff lobby 2')).toBe('lobby: content 2 -> 3\n  ramMB: 200 -> 100\n');
    expect(await world.run('config diff lobby 1')).toBe('lobby: content 1 -> 3: the same\n');
    expect(await world.run('config diff lobby 4')).toBe(
      'error: configuration lobby has no content 4 in its history: there are 1, 2, 3\n',
    );
  });
});

describe('template list and sync', () => {
  beforeEach(() => {
    world.groups.set('games', ['lobby', 'arena']);
    world.groups.set('base', ['java']);
  });

  it('lists templates with the configurations that use them', async () => {
    await world.configure('lobby', {
      templateInstallationConfig: { allOf: [{ group: 'games', name: 'lobby' }], oneInGroups: ['base'] },
    });
    expect(cells(await world.run('template list'))).toEqual([
      ['GROUP', 'NAME', 'USED BY'],
      ['games', 'lobby', 'lobby'],
      ['games', 'arena'],
      ['base', 'java', 'lobby'],
    ]);
    expect(await world.json('template list')).toContainEqual({ group: 'games', name: 'arena', usedBy: [] });
  });

  it('sends what matches to the nodes', async () => {
    expect(await world.run('template sync games/*')).toMatch(
      /^2 templates \(games\/lobby, games\/arena\) on the way to alpha\nalpha: 2 trees: 2 fetched \(6 files, 240 bytes\) in [\d.]+ s\n$/,
    );
    expect(await world.json('template sync base/java')).toMatchObject({
      templates: ['base/java'],
      nodes: ['alpha'],
      results: [{ nodeId: 'alpha', state: 'done', trees: 1, fetched: 1, bytes: 120 }],
    });
    expect(world.synced).toEqual(['games/*', 'base/java']);
  });

  it('does not wait for the nodes when told so, and shows later how it goes', async () => {
    expect(await world.run('template progress')).toBe('no sync since the master started\n');
    expect(await world.json('template progress')).toBeNull();
    world.doNodesAnswer = false;
    expect(await world.run('template sync base/java --no-wait')).toBe(
      '1 template (base/java) on the way to alpha\n',
    );
    expect(await world.run('template progress')).toMatch(
      /^template sync base\/java\nalpha: 1 tree: 1 fetched .*\nNot all nodes are through: "template progress" shows how it goes\.\n$/,
    );
    const reader = new AbortController();
    const waiting = world.run('template sync base/java', { signal: reader.signal });
    await until(() => expect(world.synced).toHaveLength(2));
    reader.abort();
    expect(await waiting).toBe('1 template (base/java) on the way to alpha\n');
  });

  it('downloads from a storage first, also what is not here yet', async () => {
    expect(await world.run('template sync games/new --storage s3')).toContain(
      'downloaded games/new from s3: 3 files, 120 bytes\n',
    );
    await world.run('template sync games/* -s s3');
    expect(world.downloads).toEqual([
      'games/new from s3',
      ...['lobby', 'arena', 'new'].map((name) => `games/${name} from s3`),
    ]);
    expect(await world.run('template sync games/lobby --storage nope')).toBe(
      'error: no storage is called "nope"\n',
    );
  });

  it.each([
    ['game/*', 'error: no template matches "game/*". Did you mean games/*?\n'],
    ['games/loby', 'error: no template matches "games/loby". Did you mean games/lobby?\n'],
    [
      'a/b/c',
      'error: pattern: must be group/name, group/* (all templates of a group) or * (all templates)\n',
    ],
  ])('refuses the pattern %s', async (pattern, error) => {
    expect(await world.run(`template sync ${pattern}`)).toBe(error);
  });
});

describe('cluster status and nodes', () => {
  it('says that everything has its minimum', async () => {
    await oneInstance();
    const text = await world.run('cluster status');
    expect(text).toMatch(/^cluster +test\nnodes +1 connected\ninstances +1 ONLINE\nconfigurations +1\n/);
    expect(text).toContain('100 of 1000 MB given out');
    expect(text).toContain('everything is well');
  });

  it('names what is not well, with why in one line, as config list and the metrics do', async () => {
    await world.configure('big', { minimumServiceCount: 2, ramMB: 5000 });
    await until(async () => {
      const row = cells(await world.run('cluster status')).find(([name]) => name === 'big');
      expect(row?.[1]).toBe('Not placed');
      expect(row?.at(-1)).toMatch(/has no node: .*short of RAM.*, and 1 more$/);
    });
    expect(cells(await world.run('config list'))[1]?.at(-1)).toBe('Not placed');
    expect(await world.json('config list')).toMatchObject({
      configurations: [{ name: 'big', health: { state: 'not-placed', instance: expect.any(String) } }],
    });
    expect(await world.json('cluster status')).toMatchObject({
      clusterName: 'test',
      nodes: { connected: 1 },
      concerns: [{ kind: 'not-placed', tone: 'bad', name: 'big' }],
      belowMinimum: [{ name: 'big', online: 0, minimum: 2 }],
    });
  });

  it('lists nodes with what they run and what is left', async () => {
    await oneInstance();
    const [head, row] = cells(await world.run('cluster nodes'));
    expect(head?.slice(0, 7)).toEqual(['NODE', 'ADDRESS', 'ROLE', 'CONDITION', 'INSTANCES', 'RAM', 'CPU']);
    expect(row?.slice(0, 8)).toEqual([
      'alpha',
      '127.0.0.1',
      expect.stringMatching(/master|wrapper/),
      'connected',
      '1',
      '100/1000 MB',
      '10/400',
      'process 1',
    ]);
    expect(await world.json('cluster nodes')).toMatchObject([
      {
        nodeId: 'alpha',
        usedRamMB: 100,
        maxRamMB: 1000,
        runtimes: ['process'],
        offers: [{ key: 'process', available: true, version: '1', reason: null }],
      },
    ]);
  });
});

describe('node info', () => {
  it('shows version, addresses, load and memory, and no path of the machine', async () => {
    const text = await world.run('node info');
    expect(text).toMatch(/^node +alpha\n/);
    expect(text).toContain(`1.2.3 on Node.js ${process.version}`);
    expect(text).not.toContain(world.root);
    expect(await world.json('node info')).toMatchObject({
      nodeId: 'alpha',
      version: '1.2.3',
      pid: process.pid,
    });
  });
});

describe('key create, list, delete', () => {
  it('shows the token once, and nowhere else', async () => {
    const text = await world.run('key create builder ALL');
    const token = /^drv_\w+/.exec(text)?.[0] ?? '';
    expect(token.length).toBeGreaterThan(30);
    const list = await world.run('key list');
    expect(cells(list)[1]?.slice(0, 2)).toEqual(['builder', 'ALL']);
    expect(list).not.toContain(token);
    expect(JSON.stringify(await world.json('key list'))).not.toContain('hash');
    expect(JSON.stringify(world.audit)).not.toContain(token);
    expect(world.log.join('')).not.toContain(token);
    expect(world.audit[0]).toMatchObject({ subject: 'key create builder ALL', result: 'ok' });
    expect(await world.json('key create reader PUBLIC')).toEqual({
      label: 'reader',
      scope: 'PUBLIC',
      configurations: null,
      from: null,
      expiresAt: null,
      token: expect.stringMatching(/^drv_/),
    });
  });

  it('says what a key is restricted to, when it is made and in the list', async () => {
    const line =
      "key create ci --scope OPERATE --configurations 'lobby*,survival' --expires 2d --from 10.0.0.0/8,::1";
    expect(await world.run(line)).toContain(
      'This is the token of key ci (OPERATE; configurations lobby*, survival; from 10.0.0.0/8, ::1; until 20',
    );
    await world.run('key create boss ALL');
    const [head, boss, ci] = (await world.run('key list')).split('\n').map((row) => row.split(/ {2,}/));
    expect(head).toEqual(
      'LABEL SCOPE TOKEN AGE EXPIRES LAST+USED CONFIGURATIONS FROM'
        .split(' ')
        .map((h) => h.replace('+', ' ')),
    );
    expect(boss?.slice(4)).toEqual(['never', 'never', 'all', 'anywhere']);
    expect(ci?.slice(4)).toEqual(['in 2 d', 'never', 'lobby*,survival', '10.0.0.0/8,::1']);
    expect(await world.run('key revoke ci')).toBe('key ci is deleted\n');
    expect(await world.run('session list')).toBe('there are no sessions\n');
    expect(await world.run('session revoke aaaaaaaaaaaa')).toMatch(
      /^error: there is no session aaaaaaaaaaaa/,
    );
  });

  it('deletes a key, and refuses the last one that may do everything', async () => {
    await world.run('key create one ALL');
    await world.run('key create two ALL');
    expect(await world.run('key delete two')).toBe('key two is deleted\n');
    expect(await world.run('key delete one')).toMatch(/^error: key "one" is the last one with scope ALL/);
    expect(await world.run('key delete on')).toBe('error: there is no key "on". Did you mean one?\n');
  });

  it.each([
    ['key create one all', /choices are ALL, SECRETS, CONFIGURE, OPERATE, PLAN, READ, PUBLIC/],
    [
      'key create one',
      /say what the key may do: key create one <ALL\|SECRETS\|CONFIGURE\|OPERATE\|PLAN\|READ\|PUBLIC>/,
    ],
    ['key create one ALL --scope READ', /the scope is ALL, and --scope says READ: give one of them/],
    [
      'key create one READ --configurations lobby*,a/b',
      /'--configurations <names>'.* "a\/b" must hold only letters/,
    ],
    ['key create one READ --expires soon', /'--expires <time>'.* must be a time such as 12h or 30d/],
    ['key create one READ --expires 2020-01-01', /expires must be later than now/],
    ['key create one READ --from 10.0.0.0/40', /'--from <addresses>'.* "10.0.0.0\/40" must be an address/],
    ['key create ../x ALL', /field label: must start with/],
  ])('refuses %s', async (line, error) => {
    expect(await world.run(line)).toMatch(error);
    expect(await world.run('key list')).toBe('there are no keys\n');
  });

  it('leaves a token that was typed by mistake out of the audit trail', async () => {
    await world.run('drv_abcdefghijklmnopqrstuvwxyz0123456789');
    await world.run('key delete drv_abcdefghijklmnopqrstuvwxyz0123456789');
    expect(JSON.stringify(world.audit)).not.toContain('abcdefghijklm');
  });
});

describe('extensions', () => {
  it('are listed with what they add, or why they failed', async () => {
    expect(await world.run('extension list')).toBe('there are no extensions\n');
    const about = { version: '1.0.0', description: 'greets', name: 'Greeter' };
    world.extensions.push(
      { id: 'greeter', ...about, state: 'active', error: null, adds: ['command greet'] },
      { id: 'broken', ...about, version: null, state: 'failed', error: 'no module', adds: [] },
    );
    expect(cells(await world.run('extension list'))).toEqual([
      ['ID', 'VERSION', 'STATE', 'ABOUT'],
      ['greeter', '1.0.0', 'active', 'command greet; greets'],
      ['broken', 'failed', 'no module'],
    ]);
    expect(await world.json('extension list')).toEqual(world.extensions);
  });

  it('add commands, which get whatever was typed', async () => {
    const seen: unknown[] = [];
    world.extensionCommands.push({
      name: 'greet',
      usage: '<who>',
      description: 'says hello',
      run: (args, { print }) => {
        seen.push(args);
        print(`hello \x1b[31m${args[0]}`);
      },
    });
    expect(await world.run('greet "the world" --loud -o json')).toBe('hello the world\n');
    expect(seen).toEqual([['the world', '--loud', '-o', 'json']]);
    expect(await world.run('help')).toMatch(/^greet <who> +says hello$/m);
  });

  it('fail with their own words', async () => {
    const run = (): never => {
      throw new Error('the moon is not full');
    };
    world.extensionCommands.push({ name: 'howl', description: 'howls', run });
    expect(await world.run('howl')).toBe('error: howl: the moon is not full\n');
    expect(world.audit.at(-1)).toMatchObject({ subject: 'howl', result: 'failed' });
  });

  it('cannot take a name of Drover’s own', async () => {
    world.extensionCommands.push({ name: 'instance', description: 'mine', run: () => undefined });
    expect(await world.run('instance list')).toBe('there are no instances\n');
  });
});

describe('help', () => {
  it('lists every registered command', async () => {
    const text = await world.run('help');
    for (const command of [
      'instance list [configuration]',
      'instance create <configuration> [count]',
      'instance execute <id> <command...>',
      'instance why <id>',
      'config reload',
      'config why <name>',
      'config diff <name> [from] [to]',
      'config history <name>',
      'config rollback <name>',
      'config restart <name>',
      'config scale <name> <count>',
      'config delete <name>',
      'template sync <pattern>',
      'cluster status',
      'cluster nodes',
      'cluster why <node>',
      'cluster cordon <node>',
      'cluster uncordon <node>',
      'cluster drain <node>',
      'cluster forget <node>',
      'cluster token create',
      'cluster token list',
      'cluster token revoke <token-id>',
      'template progress',
      'node info',
      'key create <label> <scope>',
      'extension list',
      'help [command...]',
      'stop',
    ])
      expect(text).toMatch(new RegExp(`^${command.replace(/[[\]|.]/g, '\\$&')} {2,}\\S`, 'm'));
    expect(await world.json('help')).toHaveLength(65);
  });

  it('explains a group and a single command', async () => {
    expect(cells(await world.run('help key')).map(([usage]) => usage)).toEqual([
      'COMMAND',
      'key create <label> <scope>',
      'key list',
      'key delete <label>',
      'key revoke <label>',
    ]);
    const one = await world.run('help instance logs');
    expect(one).toContain('Usage: instance logs [options] <id>');
    expect(one).toContain('--lines <count>');
    expect(await world.run('instance logs --help')).toBe(one);
    expect(await world.run('help instence')).toBe(
      "error: unknown command 'instence'. Did you mean instance?\n",
    );
  });
});

describe('stop', () => {
  it('ends the daemon and says that instances go on', async () => {
    expect(await world.run('stop')).toMatch(/^Drover stops now on node alpha\. Instances go on running/);
    expect(world.stops).toBe(1);
  });

  it('does not stop anything when it is not quite that', async () => {
    await world.run('stop now');
    await world.run('stop --help');
    await world.run('help stop');
    expect(world.stops).toBe(0);
  });
});

describe('a line that is no command', () => {
  it.each([
    ['instnace list', "error: unknown command 'instnace'. Did you mean instance?\n"],
    ['instance lst', "error: unknown command 'instance lst'. Did you mean instance list?\n"],
    ['nonsense', `error: unknown command 'nonsense': "help" lists all\n`],
    ['instance info', "error: missing required argument 'id'\n"],
    ['instance logs abc123 --lnes 5', "error: unknown option '--lnes'. Did you mean --lines?\n"],
    [
      'instance list -o yaml',
      /^error: option '-o, --output <format>' argument 'yaml' is invalid\. Allowed choices are table, json\.\n$/,
    ],
    ['cluster nodes extra', /^error: too many arguments/],
    ['__proto__', /^error: unknown command/],
    ['constructor', /^error: unknown command/],
  ])('%s names what is wrong and what was meant', async (line, error) => {
    if (typeof error === 'string') expect(await world.run(line)).toBe(error);
    else expect(await world.run(line)).toMatch(error);
    expect(world.audit.at(-1)).toMatchObject({ result: 'failed' });
  });

  it('shows what a group offers', async () => {
    expect(await world.run('instance')).toMatch(/^Usage: instance [\s\S]*\blist\b/);
    expect(await world.run('instance help')).toMatch(/^Usage: instance [\s\S]*\blist\b/);
    expect(world.audit.map(({ result }) => result)).toEqual(['failed', 'ok']);
  });

  it('is JSON for programs', async () => {
    const error = "unknown command 'instnace'. Did you mean instance?";
    expect(await world.json('instnace list')).toEqual(refusal(error, 'DRV_COMMAND_INVALID'));
    const unknown = refusal(expect.stringContaining('there is no instance "zz"'), 'DRV_INSTANCE_UNKNOWN');
    expect(await world.json('instance info zz')).toEqual(unknown);
  });

  it('leaves most of itself out of the audit trail', async () => {
    await world.run('instance exceute abc123 login hunter2');
    expect(world.audit.at(-1)).toMatchObject({ subject: 'instance exceute ***', result: 'failed' });
  });

  it('does nothing when it is blank, and says so when it is too long', async () => {
    expect(await world.run('  ')).toBe('');
    expect(world.audit).toEqual([]);
    expect(await world.run(`instance list ${'x'.repeat(70_000)}`)).toBe(
      'error: the line is longer than 64 KiB\n',
    );
  });

  it('prints no control characters of what was typed', async () => {
    expect(await world.run('\x1b]0;owned\x07\x1b[31mx')).toBe(
      `error: unknown command 'x': "help" lists all\n`,
    );
  });
});

describe('instance why and config why', () => {
  it('explain, and find what was meant', async () => {
    const id = await oneInstance();
    await world.configure('big', { minimumServiceCount: 1, ramMB: 5000 });
    await until(() => expect(world.plane.records()).toHaveLength(2));
    expect(await world.run(`instance why ${id}`)).toMatch(/\S+\n/);
    expect(await world.json(`instance why ${id}`)).toMatchObject({ instanceId: id, actual: 'ONLINE' });
    await until(async () => expect(await world.run('config why big')).toContain('5000 MB'));
    expect(await world.json('config why big')).toMatchObject({ configurationName: 'big', minimum: 1 });
    expect(await world.run('config why bigg')).toBe(
      'error: there is no configuration "bigg". Did you mean big?\n',
    );
    expect(await world.run('instance why zz')).toMatch(/^error: there is no instance "zz"/);
  });

  it('explain a name that only a broken file has', async () => {
    world.writeFile('lost.json', '{ "name": "lost", ');
    await world.run('config reload');
    expect(await world.run('config why lost')).toContain('lost.json');
  });
});

describe('completion', () => {
  it('offers words, options, ids and names', async () => {
    const id = await oneInstance();
    expect(await world.commands.complete('inst')).toEqual([['instance '], 'inst']);
    expect((await world.commands.complete('instance st'))[0]).toEqual(['stop', 'start']);
    expect((await world.commands.complete('instance stop '))[0]).toEqual([`${id} `]);
    expect((await world.commands.complete('instance create lo'))[0]).toEqual(['lobby ']);
    expect((await world.commands.complete('instance logs --l'))[0]).toEqual(['--lines ']);
    expect((await world.commands.complete('key create x '))[0]).toEqual([
      'ALL',
      'SECRETS',
      'CONFIGURE',
      'OPERATE',
      'PLAN',
      'READ',
      'PUBLIC',
    ]);
    expect((await world.commands.complete('help con'))[0]).toEqual(['config ']);
    expect((await world.commands.complete('nothing '))[0]).toEqual([]);
  });
});

describe('the bounds of a command', () => {
  /** Adds a command that never ends. Returns the signals that its runs get. */
  function hang(): { readonly signals: AbortSignal[] } {
    const signals: AbortSignal[] = [];
    world.extensionCommands.push({
      name: 'hang',
      description: 'hangs',
      run: async (_args, { print, signal }) => {
        signals.push(signal);
        print('begun');
        await new Promise(() => undefined);
      },
    });
    return { signals };
  }

  it('end the wait after 55 s and say so', async () => {
    const clock = new FakeClock();
    await world.stop();
    world = await CommandWorld.create(clock);
    const { signals } = hang();
    const running = world.run('hang');
    await clock.advance(55_000);
    expect(await running).toBe('begun\nerror: not done after 55 s; what the command began may go on\n');
    expect(signals[0]?.aborted).toBe(true);
    expect(world.audit).toMatchObject([{ subject: 'hang', result: 'failed' }]);
    expect(clock.pending).toBe(0);
  });

  it('end it when nobody reads any more', async () => {
    const { signals } = hang();
    const leaving = new AbortController();
    const running = world.run('hang', { signal: leaving.signal });
    await until(() => expect(signals).toHaveLength(1));
    leaving.abort();
    expect(await running).toBe('begun\n');
    expect(signals[0]?.aborted).toBe(true);
  });

  it('cut the output at 4 MiB, however much a command prints', async () => {
    world.extensionCommands.push({
      name: 'flood',
      description: 'floods',
      run: (_args, { print }) => {
        for (let count = 0; count < 100_000; count++) print('x'.repeat(100));
      },
    });
    const output = await world.run('flood');
    expect(output.length).toBeLessThan(4 * 1024 * 1024 + 200);
    expect(output).toMatch(/\n\[the rest is cut: .*\]\n$/);
  });

  it('let lines run at once without knowing of each other', async () => {
    await world.configure('lobby');
    const outputs = await Promise.all([
      world.run('instance create lobby 3 -o json'),
      world.run('instance lst'),
      world.run('config list'),
      world.run('instance create lobby 2'),
    ]);
    expect(JSON.parse(outputs[0])).toHaveLength(3);
    expect(outputs[1]).toBe("error: unknown command 'instance lst'. Did you mean instance list?\n");
    expect(outputs[2]).toMatch(/^NAME/);
    expect(outputs[3].trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('config rollback', () => {
  it('needs no reason', async () => {
    await world.configure('lobby', { ramMB: 100 });
    await world.configure('lobby', { ramMB: 120 });
    expect(await world.run('config rollback lobby')).toMatch(/^lobby is back at content 1/);
    expect((await world.run('config list')).split('\n')[1]).toMatch(/Rolled back$/);
  });
});

describe('config scale', () => {
  it('ends the surplus with --remove, those without players first', async () => {
    await world.configure('lobby', { minimumServiceCount: 3 });
    const [, { id } = expect.fail('there are three')] = await world.untilOnline('lobby', 3);
    await world.plane.master.writer.reportState(id, { state: 'ONLINE', players: 3 });
    expect(await world.run('config scale lobby 1 --remove')).toBe(
      'lobby: minimumServiceCount 3 -> 1; 2 instances above it end now\n',
    );
    await until(() => expect(world.plane.records().map((one) => one.id)).toEqual([id]));
  });

  it('writes the file with another minimum and all else as it was', async () => {
    world.writeFile(
      'lobby.json',
      '{"$schema": "x", "minimumServiceCount": 0, "runtime": "process", "command": "run", "ramMB": 1}',
    );
    await world.files.reload();
    expect(await world.run('config scale lobby 2')).toBe('lobby: minimumServiceCount 0 -> 2\n');
    expect(JSON.parse(readFileSync(join(world.root, 'configurations/lobby.json'), 'utf8'))).toEqual({
      $schema: 'x',
      minimumServiceCount: 2,
      runtime: 'process',
      command: 'run',
      ramMB: 1,
    });
    await world.untilOnline('lobby', 2);
    expect(await world.run('config scale lobby 2')).toBe('lobby: minimumServiceCount is 2 already\n');
    expect(await world.json('config scale lobby 1')).toEqual({
      name: 'lobby',
      before: 2,
      after: 1,
      above: 'stay',
      note: null,
    });
    expect(await world.run('config scale loby 2')).toContain('Did you mean lobby?');
    expect(await world.run('config scale lobby many')).toContain('must be a whole number from 0 to 100000');
  });

  it.each([
    [{}, 'stay until they are deleted ("config scale --remove" ends them)'],
    [{ surplus: 'remove' }, 'end, those with players when these have left ("surplus": "remove")'],
    [{ surplus: 'remove', update: { players: 'ignore' } }, 'end ("surplus": "remove")'],
  ] as const)('says what becomes of the instances above a lower number: %j', async (fields, words) => {
    await world.configure('lobby', { minimumServiceCount: 2, ...fields });
    expect(await world.run('config scale lobby 1')).toBe(
      `lobby: minimumServiceCount 2 -> 1; instances above it ${words}\n`,
    );
  });

  it('says why a number is not possible', async () => {
    await world.configure('lobby', { maximumServiceCount: 3 });
    expect(await world.run('config scale lobby 4')).toContain('maximumServiceCount: must be at least');
  });
});

describe('config delete', () => {
  it('removes the file, and leaves the instances', async () => {
    const id = await oneInstance();
    expect(await world.run('config delete lobby')).toBe(
      'configuration lobby is deleted; its instances stay, unless their onDelete is "stop"\n',
    );
    expect(existsSync(join(world.root, 'configurations/lobby.json'))).toBe(false);
    expect(await world.json('instance list')).toMatchObject([{ id }]);
    expect(await world.run('config delete lobby')).toContain('there is no configuration "lobby"');
  });
});
