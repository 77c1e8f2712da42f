/** How nodes are ordered, what stands on each, and what was asked of one. */
import { expect, it } from 'vitest';
import { Api } from '../../../src/dashboard/api/api-client.js';
import { OrderedList } from '../../../src/dashboard/live/ordered-list.js';
import { AskedOfNodes } from '../../../src/dashboard/screens/nodes/asked.js';
import {
  type NodeEntry,
  nodeOrder,
  PLACED,
  PlacedCells,
  readView,
  standingOf,
} from '../../../src/dashboard/screens/nodes/node.js';
import { joinCommand, tokenState } from '../../../src/dashboard/screens/nodes/tokens/token-state.js';
import { aNode, anInstance } from '../../support/dashboard/entries.js';

const DRAIN = { deadline: 1, isDrained: false, left: 2, remainingMs: 0, since: 1, waitingFor: [] };

function idsInOrder(query: Record<string, string>, nodes: readonly NodeEntry[]): readonly string[] {
  const entries = new Map(nodes.map((node) => [node.nodeId, node]));
  return new OrderedList(nodeOrder(readView(query)), entries).keys();
}

it('puts the worst node first, and finds by name or address', () => {
  const nodes = [
    aNode({ nodeId: 'fine' }),
    aNode({ nodeId: 'cordoned', cordoned: true }),
    aNode({ nodeId: 'drains', cordoned: true, drain: DRAIN }),
    aNode({ nodeId: 'lost', condition: 'lost', address: '192.0.2.9' }),
    aNode({ nodeId: 'returns', condition: 'returning' }),
  ];
  expect(idsInOrder({ sort: 'trouble' }, nodes)).toEqual(['lost', 'returns', 'drains', 'cordoned', 'fine']);
  expect(idsInOrder({ sort: 'nonsense' }, nodes)[0]).toBe('cordoned');
  expect(idsInOrder({ find: ' 192.0.2 ' }, nodes)).toEqual(['lost']);
});

it('puts the fullest node first', () => {
  const capacity = { maxRamMB: 1000, maxCpu: 100 };
  const nodes = [
    aNode({ nodeId: 'half', capacity, resources: { usedRamMB: 500, usedCpu: 90 } }),
    aNode({ nodeId: 'full', capacity, resources: { usedRamMB: 1000, usedCpu: 10 } }),
  ];
  expect(idsInOrder({ sort: 'ram' }, nodes)).toEqual(['full', 'half']);
  expect(idsInOrder({ sort: 'cpu' }, nodes)).toEqual(['half', 'full']);
});

it('tells a drain that goes on from one that is done', () => {
  expect(standingOf(aNode())).toBeNull();
  expect(standingOf(aNode({ cordoned: true }))).toBe('cordoned');
  expect(standingOf(aNode({ cordoned: true, drain: DRAIN }))).toBe('draining');
  expect(standingOf(aNode({ cordoned: true, drain: { ...DRAIN, isDrained: true } }))).toBe('drained');
});

it('knows what stands on a node, and a configuration everywhere', () => {
  const instances = [
    ...['a1', 'a2', 'a3'].map((id) => anInstance({ id, configurationName: 'arena', wrapperNodeId: 'one' })),
    anInstance({ id: 'l1', configurationName: 'lobby', wrapperNodeId: 'one' }),
    anInstance({ id: 'l2', configurationName: 'lobby', wrapperNodeId: 'two' }),
  ];
  const { wrapperNodeId: _, ...unplaced } = anInstance({ id: 'l3' });
  const entries = new Map([...instances, unplaced].map((one) => [one.id, one]));
  const cells = new PlacedCells(new OrderedList(PLACED, entries));
  expect(cells.on('one').count).toBe(4);
  expect(cells.on('gone').count).toBe(0);
  expect(cells.some('one', 2).map(({ id }) => id)).toEqual(['a1', 'a2']);
  expect(cells.some('two', 9).map(({ id }) => id)).toEqual(['l2']);
  expect(cells.everywhere('lobby')).toEqual({ instances: 2, nodes: 2 });
});

it('marks what was asked until the state shows it, and no longer when it was refused', async () => {
  const asked = new AskedOfNodes();
  const node = aNode();
  await asked.send(apiThat(200), 'cordon', node);
  expect(asked.of(node)).toBe('cordon');
  expect(asked.of(aNode({ resources: { usedCpu: 0, usedRamMB: 0 } }))).toBe('cordon');
  expect(asked.of(aNode({ cordoned: true }))).toBeUndefined();
  const other = aNode({ nodeId: 'other' });
  await expect(asked.send(apiThat(409), 'drain', other, 60)).rejects.toThrow('refused');
  expect(asked.of(other)).toBeUndefined();
});

it('says whether a token can still be used, and how', () => {
  const token = {
    id: 't',
    label: null,
    createdAt: 1,
    expiresAt: null,
    isExpired: false,
    maxUses: 1,
    uses: 0,
    asMaster: false,
  };
  expect(tokenState(token)).toBe('usable');
  expect(tokenState({ ...token, uses: 1 })).toBe('used');
  expect(tokenState({ ...token, uses: 1, maxUses: null })).toBe('usable');
  expect(tokenState({ ...token, isExpired: true })).toBe('expired');
  const made = {
    token: 'drvjoin_x',
    master: '10.0.0.1:6000',
    clusterName: 'c',
    expiresAt: null,
    id: 't',
    maxUses: 1,
    asMaster: false,
  };
  expect(joinCommand(made)).toBe('drover join drvjoin_x --master 10.0.0.1:6000 && drover start');
});

function apiThat(status: number): Api {
  const answer = async (): Promise<Response> =>
    new Response(JSON.stringify(status === 200 ? {} : { error: 'refused' }), { status });
  return new Api({
    base: 'http://127.0.0.1/api/',
    token: () => 't',
    onRefused: () => undefined,
    fetch: answer,
  });
}
