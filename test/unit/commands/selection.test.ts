/** Which instances an action takes in, and what is said before it: from what was typed and what there is. */
import { describe, expect, it } from 'vitest';
import { ClientError, EXIT } from '../../../src/command-tree/runs/client-error.js';
import { actedText, actOnInstances } from '../../../src/command-tree/selection/act.js';
import {
  type Chosen,
  chooseInstances,
  consequenceText,
  type InstanceAction,
  type KnownInstances,
} from '../../../src/command-tree/selection/choose.js';
import { type SelectionOptions, selectionOf } from '../../../src/command-tree/selection/selection.js';
import type { InstanceInfo, InstanceState } from '../../../src/model/instance.js';

interface Some {
  readonly state?: InstanceState;
  readonly node?: string;
  readonly players?: number;
}

function instance(id: string, configurationName: string, { state = 'ONLINE', node, players }: Some = {}) {
  return { id, configurationName, state, wrapperNodeId: node, players: players ?? null } as InstanceInfo;
}

const KNOWN: KnownInstances = {
  instances: [
    instance('a1', 'lobby', { node: 'n1', players: 3 }),
    instance('a2', 'lobby', { node: 'n2', state: 'STOPPED' }),
    instance('b1', 'arena', { node: 'n1' }),
    instance('c1', 'redis', { node: 'n2', players: 0 }),
    instance('d1', 'gone', { state: 'CREATING' }),
  ],
  groups: new Map([
    ['lobby', ['games', 'front']],
    ['arena', ['games']],
    ['redis', []],
  ]),
};

function chosen(action: InstanceAction, ids: readonly string[], options: SelectionOptions = {}): string {
  const { instances, left } = chooseInstances(action, selectionOf(ids, options), KNOWN);
  return `${instances.map(({ id }) => id).join(' ')}${left === 0 ? '' : `, ${left} left`}`;
}

describe('a filter', () => {
  it.each([
    ['delete', { configuration: 'lobby' }, 'a1 a2'],
    ['delete', { group: 'games' }, 'a1 a2 b1'],
    ['delete', { node: 'n2' }, 'a2 c1'],
    ['delete', { group: 'games', node: 'n1' }, 'a1 b1'],
    ['delete', { configuration: 'gone' }, 'd1'],
    ['update', { all: true }, 'a1 a2 b1 c1 d1'],
    ['restart', { group: 'front' }, 'a1, 1 left'],
    ['stop', { all: true }, 'a1 b1 c1 d1, 1 left'],
    ['start', { all: true }, 'a2, 4 left'],
  ] as const)('%s %j takes in %s', (action, options, expected) => {
    expect(chosen(action, [], options)).toBe(expected);
  });

  it.each([
    ['stop', { configuration: 'nobody' }, 'there is no instance of configuration "nobody"'],
    ['stop', { group: 'front', node: 'n3' }, 'there is no instance of group "front", on node "n3"'],
    [
      'start',
      { configuration: 'arena' },
      'of 1 instance of configuration "arena" none is stopped: there is nothing to start',
    ],
    [
      'restart',
      { configuration: 'lobby', node: 'n2' },
      'of 1 instance of configuration "lobby", on node "n2" none runs: there is nothing to restart',
    ],
  ] as const)('%s %j that leaves nothing says so', (action, options, message) => {
    expect(() => chosen(action, [], options)).toThrow(message);
  });
});

describe('ids', () => {
  it('are meant whatever the instances do, each once', () => {
    expect(chosen('start', ['b1', 'a1', 'b1'])).toBe('b1 a1');
  });

  it('of which one is not known choose nothing', () => {
    expect(() => chosen('delete', ['a1', 'zz', 'yy'])).toThrow('there is no instance "zz", "yy"');
  });
});

it.each([
  [[], {}, 'name instances by their ids'],
  [['a1'], { all: true }, 'and not both'],
  [['a1'], { node: 'n1' }, 'and not both'],
  [[], { all: true, node: 'n1' }, '--all takes all instances'],
] as const)('%j with %j is refused', (ids, options, message) => {
  expect(() => selectionOf(ids, options)).toThrow(message);
});

describe('what is said before', () => {
  const of = (...ids: string[]): Chosen => ({
    instances: KNOWN.instances.filter(({ id }) => ids.includes(id)),
    left: 0,
  });

  it('counts players', () => {
    expect(consequenceText('restart', of('a1', 'b1'), false)).toBe(
      '2 instances are ended and started anew; 1 of them has players (3)',
    );
    expect(consequenceText('update', of('a1'), true)).toContain(
      '1 of them has players (3), and those wait for them',
    );
    expect(consequenceText('start', of('a1'), false)).not.toContain('players');
  });

  it('counts what is left alone', () => {
    expect(consequenceText('stop', { ...of('b1'), left: 2 }, false)).toBe(
      '1 instance is stopped, until started again; 2 more are left alone: stopped',
    );
  });
});

describe('a stop of several', () => {
  const waits = new Map([['shop', ['db']]]);
  const DB = instance('d', 'db');
  const shop = (state: InstanceState, reason: string | null): InstanceInfo =>
    Object.assign(instance('s', 'shop', { state }), { reason });

  /** Stops shop and db. `looks`: what shop is after it was asked to stop; an error is a look that fails. */
  async function stopped(looks: readonly (InstanceInfo | ClientError)[]): Promise<string[]> {
    const said: string[] = [];
    const answers = [shop('ONLINE', null), ...looks].values();
    const acted = await actOnInstances(
      {
        action: 'stop',
        input: { selection: selectionOf([], { all: true }) },
        known: async () => {
          const { value, done } = answers.next();
          if (value instanceof ClientError) throw value;
          const { state, reason } = value ?? {};
          said.push(done === true ? 'looked too often' : `shop ${state} ${reason}`);
          return { instances: value === undefined ? [DB] : [value, DB], groups: new Map() };
        },
        waits: async () => waits,
        perform: async (id) => {
          said.push(`stop ${id}`);
          return { instanceId: id, message: `${id} stops` };
        },
      },
      { signal: new AbortController().signal, confirm: async () => undefined },
    );
    return [...said.slice(1), ...actedText(acted).split('\n')];
  }

  it.each([
    ['that is not ready', shop('OFFLINE', 'not-ready')],
    ['whose commands after its end run', shop('OFFLINE', 'stopping')],
  ])('waits for one %s', async (_what, look) => {
    const former = `shop OFFLINE ${look.reason}`;
    const all = ['stop s', former, 'shop STOPPED stopped', 'stop d', 's stops', 'd stops'];
    expect(await stopped([look, shop('STOPPED', 'stopped')])).toEqual(all);
  });

  it('does not wait for one on a lost node', async () => {
    const all = ['stop s', 'shop OFFLINE node-lost', 'stop d', 's stops', 'd stops'];
    expect(await stopped([shop('OFFLINE', 'node-lost')])).toEqual(all);
  });

  it('says which go on where a look fails', async () => {
    const lost = new ClientError(EXIT.unreachable, 'the master is away');
    expect(await stopped([lost])).toEqual(['stop s', 's stops', 'instance d: the master is away']);
  });
});
