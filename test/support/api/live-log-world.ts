/** An API server over logs in memory, and clients that follow its live logs. */
import type { InstanceRecord } from '../../../src/model/instance.js';
import { until } from '../until.js';
import { ApiWorld, instanceRecord } from './api-world.js';
import { FakeNodeLogs } from './fake-node-logs.js';
import { type Refusal, SocketClient } from './socket-client.js';

export const ID = 'aaaaaa';

/** The lines `line <from>` to `line <to>`. */
export function lines(from: number, to: number): string[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => `line ${from + index}`);
}

export class LiveLogWorld {
  readonly api = new ApiWorld();
  readonly logs = new FakeNodeLogs();
  readonly #clients: SocketClient[] = [];

  async start(): Promise<this> {
    await this.api.start();
    this.api.nodeLogs = this.logs;
    await this.api.server.start();
    await this.api.addNode('n1');
    await this.api.addNode('n2');
    await this.place('n1');
    return this;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.websocket.terminate();
    await this.api.stop();
  }

  /** Places the instance on a node, or takes its place away. */
  place(nodeId: string | null, id = ID): Promise<InstanceRecord> {
    return this.api.putInstance(instanceRecord({ id, placement: placementOn(nodeId) }));
  }

  /** Deletes the instance on n1. Its record stays until the node has cleaned up. */
  remove(): Promise<InstanceRecord> {
    const desired = { goal: 'remove', restartToken: 0 } as const;
    return this.api.putInstance(instanceRecord({ id: ID, placement: placementOn('n1'), desired }));
  }

  async open(query = '', token = this.api.admin): Promise<SocketClient> {
    const client = await SocketClient.open(this.#url(query), { token });
    this.#clients.push(client);
    return client;
  }

  /** Opens a client of the change stream. */
  async watch(...messages: readonly object[]): Promise<SocketClient> {
    const client = await SocketClient.open(`${this.api.url}/watch`, { token: this.api.admin });
    this.#clients.push(client);
    for (const message of messages) client.send(JSON.stringify(message));
    return client;
  }

  refusal(query: string, id = ID): Promise<Refusal> {
    return SocketClient.refusal(this.#url(query, id), { token: this.api.admin });
  }

  /** Waits until `look` no longer throws, while the clock goes on. */
  until(look: () => void): Promise<void> {
    return until(async () => {
      await this.api.clock.advance(20);
      look();
    });
  }

  #url(query: string, id = ID): string {
    return `${this.api.url}/instances/${id}/live-log${query}`;
  }
}

function placementOn(nodeId: string | null): InstanceRecord['placement'] {
  return nodeId === null ? null : { nodeId, port: null, hostAddress: '127.0.0.1', templates: [] };
}
