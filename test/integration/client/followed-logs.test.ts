/** `drover logs` against an API server in this process, whose nodes' logs are in memory, through a proxy that cuts. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../src/client/api-client.js';
import type { LogPart } from '../../../src/client/live/log-part.js';
import { followLogs, printLogs } from '../../../src/client/live/logs.js';
import { ClientError, EXIT } from '../../../src/command-tree/runs/client-error.js';
import { instanceRecord } from '../../support/api/api-world.js';
import { ID, LiveLogWorld, lines } from '../../support/api/live-log-world.js';
import { LiveRun } from '../../support/client/live-run.js';

const PART: LogPart = { since: undefined, until: undefined, previous: false, timestamps: false, tail: 100 };
const ALL = Number.POSITIVE_INFINITY;
const LOST = /^the connection to prod was lost \(.+\): trying again$/;
const AGAIN = /^connected to prod again after /;

let world: LiveLogWorld;
let run: LiveRun;
const following: Promise<void>[] = [];

beforeEach(async () => {
  world = await new LiveLogWorld().start();
  run = await LiveRun.over(world.api.url, world.api.admin);
});
afterEach(async () => {
  await run.stop();
  await world.stop();
  await Promise.allSettled(following.splice(0));
});

/** In the background; the test ends it with its instance, or with the server. */
function follow(name: string, part: Partial<LogPart> = {}, api: ApiClient = run.api): Promise<void> {
  const promise = followLogs(api, name, { ...PART, ...part }, run.output);
  promise.catch(() => undefined);
  following.push(promise);
  return promise;
}

const untilLines = (expected: readonly string[]): Promise<void> =>
  world.until(() => expect(run.lines).toEqual(expected));

/** Answers for an instance as a leader does that is ahead of the asked master. */
class LeaderAhead extends ApiClient {
  asked = 0;
  isAhead = true;
  isReached = true;

  override async get<T>(path: string): Promise<T> {
    if (path !== '/instances/later1' || !this.isAhead) return super.get(path);
    if (!this.isReached) throw new ClientError(EXIT.unreachable, 'not reached');
    this.asked++;
    return { id: 'later1', configurationName: instanceRecord({ id: 'later1' }).configurationName } as T;
  }
}

describe('the log of an instance that the asked master does not list yet', () => {
  let api: LeaderAhead;
  let end: Promise<void>;

  beforeEach(async () => {
    api = new LeaderAhead(run.api.connection);
    end = follow('later1', {}, api);
    await world.until(() => expect(api.asked).toBeGreaterThan(1));
  });

  it('is printed when the master lists the instance', async () => {
    const placement = { nodeId: 'n1', port: null, hostAddress: '127.0.0.1', templates: [] };
    world.logs.write('n1', 'one');
    await world.api.putInstance(instanceRecord({ id: 'later1', placement }));
    await untilLines(['one']);
    await world.api.dropInstance('later1');
    api.isAhead = false;
    await end;
  });

  it('ends when the instance is gone', async () => {
    api.isAhead = false;
    await end;
    expect(run.lines).toEqual([]);
    expect(run.said).toEqual(['instance later1 was removed']);
  });

  it('is waited for while the master cannot be reached', async () => {
    api.isReached = false;
    await world.until(() => expect(run.said).toEqual(['not reached']));
    api.isReached = true;
    api.isAhead = false;
    await end;
    expect(run.said).toEqual(['not reached', 'instance later1 was removed']);
  });
});

describe('a log that is followed', () => {
  it('goes on by line number when the connection is cut, and says so', async () => {
    world.logs.write('n1', ...lines(1, 250));
    void follow(ID, { tail: 2 });
    await untilLines(lines(249, 250));
    for (const from of [251, 351]) {
      run.proxy.cut();
      world.logs.write('n1', ...lines(from, from + 99));
      await untilLines(lines(249, from + 99));
    }
    expect(run.said.filter((line) => LOST.test(line))).toHaveLength(2);
    expect(run.said.filter((line) => AGAIN.test(line))).toHaveLength(2);
    expect(run.said).toContain(`instance ${ID}: the log goes on with line 251`);
  });

  it('loses nothing that is written before its first line', async () => {
    void follow(ID, { tail: 0 });
    await world.until(() => expect(world.logs.open).toBe(1));
    run.proxy.cut();
    world.logs.write('n1', 'one');
    await untilLines(['one']);
  });

  it('begins with the first line of its new node when it has moved, also while the connection was lost', async () => {
    world.logs.write('n1', ...lines(1, 3));
    world.logs.write('n2', 'a', 'b', 'c', 'd', 'e');
    void follow(ID);
    await untilLines(lines(1, 3));
    run.proxy.goDeaf();
    await world.place('n2');
    run.proxy.cut();
    run.proxy.hear();
    await untilLines([...lines(1, 3), 'a', 'b', 'c', 'd', 'e']);
    expect(run.said).toContain(
      `instance ${ID}: the log of instance ${ID} is on node n2 now, where it begins anew`,
    );
  });

  it('says which lines are no longer kept', async () => {
    world.logs.write('n1', ...lines(1, 3));
    void follow(ID);
    await untilLines(lines(1, 3));
    run.proxy.goDeaf();
    world.logs.write('n1', ...lines(4, 20));
    world.logs.rotate('n1', 11);
    run.proxy.cut();
    run.proxy.hear();
    await untilLines([...lines(1, 3), ...lines(11, 20)]);
    expect(run.said).toContain(`instance ${ID}: lines 4 to 10 are no longer kept`);
  });

  it('ends when the instance was removed', async () => {
    world.logs.write('n1', 'one');
    const end = follow(ID);
    await untilLines(['one']);
    await world.api.dropInstance(ID);
    await world.until(() => expect(run.said).toEqual([`instance ${ID} was removed`]));
    await end;
  });

  it('ends when the instance was removed while the connection was lost', async () => {
    world.logs.write('n1', 'one');
    const end = follow(ID);
    await untilLines(['one']);
    run.proxy.goDeaf();
    await world.api.dropInstance(ID);
    run.proxy.cut();
    run.proxy.hear();
    await end;
    expect(run.said.at(-1)).toBe(`instance ${ID} was removed; what it wrote after line 1 is not known`);
  });

  it('ends when the instance is stopped, after its last line', async () => {
    world.logs.write('n1', ...lines(1, 2500));
    const placement = { nodeId: 'n1', port: null, hostAddress: '127.0.0.1', templates: [] };
    const record = instanceRecord({ id: ID, placement });
    await world.api.putInstance({
      ...record,
      desired: { goal: 'stop', restartToken: 0 },
      status: { ...record.status, state: 'STOPPED', reason: 'stopped', pid: null },
    });
    await follow(ID, { tail: ALL });
    expect(run.lines).toEqual(lines(1, 2500));
    expect(run.said).toEqual([`instance ${ID} is stopped: its log ends`]);
  });

  it('stands still while nobody reads, and then goes on without loss', async () => {
    world.logs.write('n1', 'begin');
    void follow(ID);
    await untilLines(['begin']);
    run.fill();
    const flood = Array.from({ length: 60_000 }, (_, index) => `${index} ${'x'.repeat(500)}`);
    for (let from = 0; from < flood.length; from += 5000)
      world.logs.write('n1', ...flood.slice(from, from + 5000));
    await world.until(() => expect(run.lines.length).toBeGreaterThan(1));
    // What the sockets of both sides hold is a few megabytes of 30.
    await world.api.clock.advance(1000);
    expect(run.lines.length).toBeLessThan(20_000);
    run.drain();
    await world.until(() => expect(run.lines.length).toBe(flood.length + 1));
    expect(run.lines.slice(1)).toEqual(flood);
    expect(run.said).toEqual([]);
  });

  it('ends quietly when nobody reads any more', async () => {
    world.logs.write('n1', 'one');
    run.close();
    await follow(ID);
    expect(run.said).toEqual([]);
  });

  it('is refused when the key has ended meanwhile', async () => {
    world.logs.write('n1', 'one');
    const end = follow(ID);
    await untilLines(['one']);
    await world.api.removeKey('boss');
    await expect(end).rejects.toMatchObject({ exitCode: EXIT.denied });
  });

  it('never shows control sequences', async () => {
    world.logs.write('n1', '\x1b[31mred\x1b[0m \x1b]0;title\x07');
    void follow(ID);
    await untilLines(['red ']);
  });
});

describe('the logs of a configuration', () => {
  it('have the id of the instance before each line, and new instances join', async () => {
    world.logs.write('n1', 'old');
    void follow('hello');
    await untilLines([`[${ID}] old`]);
    world.logs.write('n2', 'first');
    await world.place('n2', 'bbbbbb');
    await untilLines([`[${ID}] old`, '[bbbbbb] first']);
    expect(run.said).toEqual(['instance bbbbbb is new']);
  });

  it('are followed of more instances than one connection carries, over a cut', async () => {
    const ids = [ID, ...Array.from({ length: 39 }, (_, index) => `b${String(index).padStart(5, '0')}`)];
    world.logs.write('n1', 'one');
    for (const id of ids) await world.place('n1', id);
    void follow('hello');
    const sorted = (): string[] => run.lines.toSorted();
    const expected = (word: string) => ids.map((id) => `[${id}] ${word}`);
    await world.until(() => expect(sorted()).toEqual(expected('one').toSorted()));
    // A line that comes shows that the logs are followed: the first lines are read before.
    world.logs.write('n1', 'then');
    const first = [...expected('one'), ...expected('then')];
    await world.until(() => expect(sorted()).toEqual(first.toSorted()));
    run.proxy.cut();
    world.logs.write('n1', 'two');
    await world.until(() => expect(sorted()).toEqual([...first, ...expected('two')].toSorted()));
    expect(run.said.filter((line) => LOST.test(line))).toHaveLength(1);
  });

  it('end when the configuration and its instances are gone', async () => {
    world.logs.write('n1', 'one');
    const end = follow('hello');
    await untilLines([`[${ID}] one`]);
    await world.api.dropInstance(ID);
    await world.until(() => expect(run.said).toEqual([`instance ${ID} was removed`]));
    await end;
  });
});

describe('a log that is printed once', () => {
  it('has all lines of a long part, with their times, and says what is no longer kept', async () => {
    world.logs.second = Date.parse('2026-01-31T12:00:00Z') / 1000;
    world.logs.write('n1', ...lines(1, 3000));
    world.logs.second += 3600;
    world.logs.write('n1', ...lines(3001, 5500));
    await printLogs(run.api, ID, { ...PART, tail: 2300 }, run.output);
    expect(run.lines).toEqual(lines(3201, 5500));
    run.out = '';
    const since = { at: Date.parse('2026-01-31T12:30:00Z') };
    await printLogs(run.api, ID, { ...PART, tail: ALL, since, timestamps: true }, run.output);
    expect(run.lines).toEqual(lines(3001, 5500).map((line) => `2026-01-31T13:00:00Z ${line}`));
    run.out = '';
    world.logs.rotate('n1', 1001);
    await printLogs(run.api, ID, { ...PART, tail: ALL }, run.output);
    expect(run.lines).toEqual(lines(1001, 5500));
    await printLogs(run.api, ID, { ...PART, tail: 0 }, run.output);
    expect(run.said).toEqual([]);
  });

  it('is not found by an unknown name', async () => {
    await expect(printLogs(run.api, 'nothing', PART, run.output)).rejects.toMatchObject({
      exitCode: EXIT.notFound,
      message: 'there is no instance and no configuration "nothing": "drover instance list" shows all',
    });
  });
});
