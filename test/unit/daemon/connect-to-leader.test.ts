/** Which master the wrapper of a master's node is connected to, while the leadership changes. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { connectToLeader } from '../../../src/daemon/connect-to-leader.js';
import type { Leader } from '../../../src/leadership/leadership.js';

const OWN = 'alpha';
let stopping: AbortController;
let listeners: Set<() => void>;
/** The master that leads, as this one knows. */
let known: Leader | null;
let isServing: boolean;
/** Each master that a connection was made to, and the connection. */
let made: { readonly to: string; readonly transport: Transport }[];

beforeEach(() => {
  stopping = new AbortController();
  listeners = new Set();
  known = null;
  isServing = false;
  made = [];
});
afterEach(() => stopping.abort());

function make(to: string): Transport {
  const [transport] = createInProcessPair();
  made.push({ to, transport });
  return transport;
}

const connect = () =>
  connectToLeader({
    candidate: {
      isLeader: () => isServing,
      leader: () => known,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    nodeId: OWN,
    here: async () => make('here'),
    there: async ({ nodeId }) => make(nodeId),
    signal: stopping.signal,
  });

function learn(nodeId: string | null, epoch = 0): void {
  known = nodeId === null ? null : { nodeId, clusterAddress: `${nodeId}:6000`, since: 0, epoch };
  for (const listener of [...listeners]) listener();
}

function begin(): void {
  isServing = true;
  for (const listener of [...listeners]) listener();
}

it('waits through an election, then connects to the master that won it', async () => {
  const connecting = connect();
  learn('beta', 4);
  await connecting;
  expect(made.map(({ to }) => to)).toEqual(['beta']);
});

it('stays with a leader while none is known, and when the same term is told again', async () => {
  learn('beta', 4);
  const transport = await connect();
  learn(null);
  learn('beta', 4);
  expect(transport.isOpen).toBe(true);
});

it('leaves a leader that another one follows, which may be cut off and not know it', async () => {
  learn('beta', 4);
  const transport = await connect();
  const reasons: string[] = [];
  transport.onClose((reason) => reasons.push(reason));
  learn('gamma', 7);
  expect(reasons).toEqual(['master gamma leads now']);
  await connect();
  expect(made.map(({ to }) => to)).toEqual(['beta', 'gamma']);
});

it('leaves another leader for this master when this one leads', async () => {
  learn('beta', 4);
  const transport = await connect();
  learn(OWN, 7);
  expect(transport.isOpen).toBe(false);
  const connecting = connect();
  begin();
  await connecting;
  expect(made.map(({ to }) => to)).toEqual(['beta', 'here']);
});

it('leaves a leader that was succeeded while the connection was made', async () => {
  learn('beta', 4);
  const connecting = connect();
  learn('gamma', 7);
  expect((await connecting).isOpen).toBe(false);
});

it('follows the leadership no more for a connection that has ended', async () => {
  learn('beta', 4);
  const transport = await connect();
  transport.close('lost');
  learn('beta', 4);
  expect(listeners.size).toBe(0);
});
