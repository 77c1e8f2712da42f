/** `plan` and `apply --fingerprint|--prune` of the client, over a real master with real files and a real fleet. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangePlan } from '../../../src/operations/plan/change-plan.js';
import { connectionTo, type InProcessOptions, runInProcess } from '../../support/client/in-process.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';
import { OperationsWorld } from '../../support/control-plane/operations-world.js';
import { until } from '../../support/until.js';

const SMALL = { runtime: 'process', command: 'run', ramMB: 100, cpu: 10, minimumServiceCount: 0 };

let world: OperationsWorld;
let home: TemporaryHome;
beforeEach(async () => {
  world = await OperationsWorld.create();
  home = new TemporaryHome();
});
afterEach(async () => {
  home.remove();
  await world.stop();
});

const drover = (line: string, options: InProcessOptions = {}) =>
  runInProcess(line.split(' '), { connection: connectionTo(world.url, world.token), ...options });
const write = (file: string, content: object): string => home.write(file, JSON.stringify(content));

async function planOf(options: string): Promise<ChangePlan> {
  const { out, err } = await drover(`plan ${options} -o json`);
  expect(err).toEqual([]);
  return JSON.parse(out);
}

async function names(): Promise<string[]> {
  const { json } = await world.call('GET /configurations');
  return (json as { name: string }[]).map(({ name }) => name);
}

describe('plan', () => {
  it('says what becomes of the instances, and what fits nowhere', async () => {
    await world.commands.configure('lobby', { minimumServiceCount: 2 });
    await world.commands.untilOnline('lobby', 2);
    const file = write('lobby.json', { ...SMALL, command: 'walk', ramMB: 300, minimumServiceCount: 6 });
    const { out, code } = await drover(`plan -f ${file}`);
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, -2)).toEqual([
      '~ lobby: change',
      '    command (next-start): "run" -> "walk"',
      '    minimumServiceCount (live): 2 -> 6',
      '    ramMB (replacement): 100 -> 300',
      expect.stringMatching(
        /^ {4}4 instances are created\. 2 instances go on with the older content:.*ramMB/,
      ),
      '2 of the 4 new ones of lobby fit nowhere: 0/1 nodes fit: 1 short of RAM (need 300 MB, free 200 MB)',
    ]);
    expect((await planOf(`-f ${file}`)).configurations[0]?.effects).toMatchObject({ create: 4, keep: 2 });
    expect(world.commands.plane.records()).toHaveLength(2);
  });

  it('shows what a new one is: command, counts, user, ports and templates', async () => {
    const file = write('lobby.json', {
      ...SMALL,
      minimumServiceCount: 1,
      maximumServiceCount: 3,
      runAs: 'games',
      availablePorts: { min: 30000, max: 30009 },
      templateInstallationConfig: { allOf: [{ group: 'a', name: 'b', storage: 'local' }] },
    });
    const { out } = await drover(`plan -f ${file}`);
    expect(out.split('\n').slice(0, -2)).toEqual([
      '+ lobby: create',
      '    availablePorts.max: 30009',
      '    availablePorts.min: 30000',
      '    command: "run"',
      '    cpu: 10',
      '    maximumServiceCount: 3',
      '    minimumServiceCount: 1',
      '    ramMB: 100',
      '    runAs: "games"',
      '    runtime: "process"',
      expect.stringMatching(/^ {4}templateInstallationConfig\.allOf: \[\{"group":"a","name":"b"/),
      '    1 instance is created.',
      ...[expect.anything()].slice(1),
    ]);
  });

  it('says whether those that wait for a place would find one', async () => {
    await world.commands.configure('lobby', { ramMB: 2000, minimumServiceCount: 1 });
    await until(() =>
      expect(world.commands.plane.records()).toMatchObject([{ status: { reason: 'no-node-fits' } }]),
    );
    const file = write('lobby.json', { ...SMALL, ramMB: 1800, minimumServiceCount: 1 });
    expect((await drover(`plan -f ${file}`)).out).toContain(
      'the new one of lobby fits nowhere: 0/1 nodes fit: 1 short of RAM',
    );
    write('lobby.json', { ...SMALL, ramMB: 300, minimumServiceCount: 1 });
    expect(await planOf(`-f ${file}`)).toMatchObject({
      shortages: [],
      configurations: [{ effects: { create: 0, restart: 0, keep: 1 }, why: 'No instance is touched.' }],
    });
  });

  it('says of a content that is held back that nothing is made from it', async () => {
    await world.commands.configure('lobby', { minimumServiceCount: 1 });
    await world.commands.untilOnline('lobby', 1);
    await world.commands.configure('lobby', { minimumServiceCount: 1, ramMB: 300 });
    await world.commands.run('config rollback lobby --reason slow');
    const file = write('lobby.json', { ...SMALL, ramMB: 300, minimumServiceCount: 1 });
    const held = expect.stringMatching(/^held back, .*: lobby; "drover config why NAME"/);
    expect(await drover(`plan -f ${file} --detailed-exitcode`)).toMatchObject({
      code: 8,
      err: [held],
      out: expect.stringMatching(
        /^= lobby: unchanged, held back\n {4}This .*: slow\. .*\nnothing changes; 1 held back; fingerprint /,
      ),
    });
    const asJson = await drover(`plan -f ${file} -o json`);
    expect([asJson.code, JSON.parse(asJson.out).configurations[0].heldBack]).toEqual([8, 'slow']);
    const { out, code } = await drover(`plan -f ${file} -o markdown`);
    expect(code).toBe(8);
    expect(out).toContain('Nothing changes; 1 held back.\n\n#### = `lobby`: unchanged, held back\n');
    expect(await drover(`apply -f ${file}`)).toMatchObject({
      code: 8,
      out: 'lobby unchanged; held back: slow\n',
      err: [held],
    });
    write('lobby.json', { ...SMALL, ramMB: 300, minimumServiceCount: 2 });
    expect(JSON.parse((await drover(`plan -f ${file} -o json`)).out).configurations[0]).toMatchObject({
      effects: { create: 1, replace: 0, keep: 1 },
      why: '1 instance is created. This content is held back, so nothing is made from it: slow. `rollout retry lobby` tries it once more.',
    });
  });

  it('says that nothing changes, and ends with 2 for changes when asked', async () => {
    await world.commands.configure('lobby');
    const file = write('lobby.json', SMALL);
    expect(await drover(`plan -f ${file} --detailed-exitcode`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^nothing changes; fingerprint [0-9a-f]+\n$/),
      err: [],
    });
    write('lobby.json', { ...SMALL, minimumServiceCount: 1 });
    expect((await drover(`plan -f ${file} --detailed-exitcode`)).code).toBe(2);
    expect((await drover(`plan -f ${file}`)).code).toBe(0);
  });

  it('hides values that may be secrets, but not from a key with scope ALL that asks', async () => {
    await world.commands.configure('lobby', { properties: { token: 'old-secret' } });
    const file = write('lobby.json', { ...SMALL, properties: { token: 'new-secret' } });
    expect((await drover(`plan -f ${file}`)).out).toContain('properties.token (next-start): *** -> ***');
    expect((await drover(`plan -f ${file} --show-values`)).out).toContain('"old-secret" -> "new-secret"');
    const { json } = await world.call('POST /keys', { body: { label: 'ci', scope: 'PLAN' } });
    const connection = connectionTo(world.url, (json as { token: string }).token);
    for (const format of ['table', 'json', 'markdown']) {
      const { out } = await drover(`plan -f ${file} --show-values -o ${format}`, { connection });
      expect(out).toContain('properties.token');
      expect(out).not.toContain('secret');
    }
  });

  it('has a fingerprint that changes with what would happen, not with how it is asked', async () => {
    await world.commands.configure('lobby');
    const file = write('lobby.json', { ...SMALL, minimumServiceCount: 1 });
    const { fingerprint } = await planOf(`-f ${file}`);
    expect((await planOf(`-f ${file} --show-values`)).fingerprint).toBe(fingerprint);
    write('lobby.json', { ...SMALL, minimumServiceCount: 2 });
    expect((await planOf(`-f ${file}`)).fingerprint).not.toBe(fingerprint);
  });

  it('keeps its fingerprint over what happens to configurations that it leaves as they are', async () => {
    for (const name of ['lobby', 'mail', 'shop']) await world.commands.configure(name);
    const lobby = write('all/lobby.json', { ...SMALL, minimumServiceCount: 1 });
    for (const name of ['mail', 'shop']) write(`all/${name}.json`, SMALL);
    const all = join(home.path, 'all');
    const { fingerprint } = await planOf(`-f ${all}`);
    expect((await planOf(`-f ${lobby}`)).fingerprint).toBe(fingerprint);
    // Another pull request, planned beside this one, is applied; and all of the room is taken.
    write('all/mail.json', { ...SMALL, minimumServiceCount: 5, ramMB: 900 });
    expect((await drover(`apply -f ${all}/mail.json`)).code).toBe(0);
    await until(() => expect(world.commands.plane.records()).not.toEqual([]));
    // The shop rolls.
    const update = { strategy: 'rolling', minReadySeconds: 0 } as const;
    await world.commands.configure('shop', { minimumServiceCount: 1, ramMB: 10, update });
    write('all/shop.json', { ...SMALL, minimumServiceCount: 1, ramMB: 10, update });
    expect((await planOf(`-f ${all}`)).fingerprint).toBe(fingerprint);
    expect(await drover(`apply -f ${all} --fingerprint ${fingerprint}`)).toMatchObject({
      code: 0,
      out: 'lobby changed: minimumServiceCount\nmail unchanged\nshop unchanged\n',
    });
  });
});

describe('apply --fingerprint', () => {
  it('writes what was planned, and nothing once the world has moved', async () => {
    await world.commands.configure('lobby', { minimumServiceCount: 0 });
    const file = write('lobby.json', { ...SMALL, minimumServiceCount: 1 });
    const { fingerprint } = await planOf(`-f ${file}`);
    // Somebody makes one by hand: now none is created.
    await world.call('POST /instances', { body: { configurationName: 'lobby' } });
    await world.commands.untilOnline('lobby', 1);
    const refused = await drover(`apply -f ${file} --fingerprint ${fingerprint}`);
    expect(refused).toMatchObject({ code: 5, out: '', err: [expect.stringContaining('plan again')] });
    const again = await planOf(`-f ${file}`);
    expect(again.configurations[0]?.effects).toMatchObject({ create: 0, keep: 1 });
    expect(await drover(`apply -f ${file} --fingerprint ${again.fingerprint}`)).toMatchObject({
      code: 0,
      out: 'lobby changed: minimumServiceCount\n',
    });
  });
});

describe('configurations that are in none of the files', () => {
  it('are counted and named in plan and apply, as far as the key sees them', async () => {
    for (const name of ['lobby', 'mail', 'shop']) await world.commands.configure(name);
    const file = write('lobby.json', { ...SMALL, minimumServiceCount: 1 });
    const text = '2 on the master are in none of these files: mail, shop; --prune deletes them';
    expect((await planOf(`-f ${file}`)).others).toEqual(['mail', 'shop']);
    expect((await planOf(`-f ${file} --prune`)).others).toEqual([]);
    expect((await drover(`plan -f ${file}`)).out.split('\n')).toContain(text);
    expect((await drover(`plan -f ${file} -o markdown`)).out).toContain(`\n- **${text}**\n`);
    expect(await drover(`apply -f ${file}`)).toMatchObject({ code: 0, err: [text] });
    const body = { label: 'team', scope: 'PLAN', configurations: ['lobby', 'shop*'] };
    const { json } = await world.call('POST /keys', { body });
    const connection = connectionTo(world.url, (json as { token: string }).token);
    expect((await drover(`plan -f ${file}`, { connection })).out).toContain(
      '1 on the master is in none of these files: shop; --prune deletes it\n',
    );
  });
});

describe('--prune', () => {
  it('deletes the others as planned, after a question, and leaves their instances', async () => {
    await world.commands.configure('lobby');
    await world.commands.configure('mail', { minimumServiceCount: 1 });
    await world.commands.untilOnline('mail', 1);
    write('conf/lobby.json', SMALL);
    const conf = join(home.path, 'conf');
    expect((await planOf(`-f ${conf}`)).configurations).toHaveLength(1);
    const { fingerprint, configurations } = await planOf(`-f ${conf} --prune`);
    expect(configurations.map(({ name, action }) => [name, action])).toEqual([
      ['lobby', 'unchanged'],
      ['mail', 'delete'],
    ]);
    expect(configurations[1]).toMatchObject({ effects: { keep: 1, stop: 0 } });
    expect((await drover(`apply -f ${conf} --prune --dry-run`)).out).toBe(
      'lobby unchanged (dry run)\nmail deleted (dry run)\n',
    );
    expect(await drover(`apply -f ${conf} --prune --fingerprint ${fingerprint} --yes`)).toMatchObject({
      code: 0,
      out: 'lobby unchanged\nmail deleted\n',
    });
    expect(await names()).toEqual(['lobby']);
    expect(world.commands.plane.records()).toHaveLength(1);
  });

  it('foretells which instances end with their configuration, and which of these have players', async () => {
    await world.commands.configure('mail', { minimumServiceCount: 2, onDelete: 'stop' });
    const { plane } = world.commands;
    const [busy] = await world.commands.untilOnline('mail', 2);
    await plane.master.writer.reportState(busy?.id ?? '', { state: 'ONLINE', players: 3 });
    write('conf/lobby.json', SMALL);
    const conf = join(home.path, 'conf');
    const { configurations } = await planOf(`-f ${conf} --prune`);
    expect(configurations.find(({ name }) => name === 'mail')).toMatchObject({
      effects: { keep: 0, stop: 2, waitForPlayers: 1 },
      why: '2 instances are stopped or removed. 1 of them has players, who are waited for.',
    });
    expect((await drover(`apply -f ${conf} --prune --yes`)).code).toBe(0);
    await until(() => {
      const wanted = plane.records().filter(({ desired }) => desired.goal === 'run');
      expect(wanted.map(({ id }) => id)).toEqual([busy?.id]);
    });
  });
});
