/** What the cluster benchmark asks of a master, wherever its nodes are: places, counts, and watches a node be lost. */
import type { ControlPlane } from '../../support/control-plane/control-plane.js';

/** As a cluster's services are: many, of some size. */
const CONFIGURATIONS = 20;

/** Unix milliseconds. */
interface LossTimes {
  readonly noticedAt: number;
  /** The last replacement has a node. */
  readonly placedAt: number;
  readonly onlineAt: number;
}

export class ClusterProbe {
  readonly #plane: ControlPlane;
  /** Nodes that were called lost, and instances that did not stay ONLINE. */
  #losses = 0;
  /** Instances that were asked for. */
  #wanted = 0;
  #replaced: Promise<LossTimes> | undefined;

  /** The plane has started. */
  constructor(plane: ControlPlane) {
    this.#plane = plane;
    plane.master.state.nodes.onChange((_id, after, before) => {
      if (after?.value.condition === 'lost' && before?.value.condition !== 'lost') this.#losses++;
    });
    plane.master.state.instances.onChange((_id, after, before) => {
      if (before?.value.status.state === 'ONLINE' && after?.value.status.state !== 'ONLINE') this.#losses++;
    });
  }

  /** Nodes that are connected now. */
  connected(): number {
    return this.#plane.master.prefetching.connected().length;
  }

  losses(): number {
    return this.#losses;
  }

  online(): number {
    return this.#plane.records().filter(({ status }) => status.state === 'ONLINE').length;
  }

  /** Declares `count` more instances, spread over the services; resolves with the seconds from the first record to the last ONLINE. */
  async place(count: number): Promise<number> {
    const { instances } = this.#plane.master.state;
    let online = 0;
    let firstAt: number | undefined;
    const seconds = new Promise<number>((resolve) => {
      const unsubscribe = instances.onChange((_id, after, before) => {
        firstAt ??= performance.now();
        if (after?.value.status.state !== 'ONLINE' || before?.value.status.state === 'ONLINE') return;
        if (++online < count) return;
        unsubscribe();
        resolve((performance.now() - firstAt) / 1000);
      });
    });
    this.#wanted += count;
    for (let index = 0; index < CONFIGURATIONS; index++)
      await this.#plane.putConfiguration({
        name: `bench-${index}`,
        runtime: 'process',
        command: 'true',
        ramMB: 512,
        cpu: 10,
        minimumServiceCount: Math.ceil((this.#wanted - index) / CONFIGURATIONS),
        availablePorts: { min: 10_000, max: 60_000 },
      });
    return seconds;
  }

  /** Answers with what the node holds, which `untilReplaced` waits for. */
  watchLoss(nodeId: string): number {
    const held = this.#plane.records().filter(({ placement }) => placement?.nodeId === nodeId).length;
    this.#replaced = this.#untilReplaced(nodeId, held);
    return held;
  }

  /** Resolves when `nodeId` was called lost, and all that it held stands elsewhere. */
  #untilReplaced(nodeId: string, missing: number): Promise<LossTimes> {
    const { nodes, instances } = this.#plane.master.state;
    let noticedAt: number | undefined;
    let placed = 0;
    let placedAt = 0;
    let online = 0;
    return new Promise((resolve) => {
      const unsubscribe = [
        nodes.onChange((id, after) => {
          if (id === nodeId && after?.value.condition === 'lost') noticedAt ??= Date.now();
        }),
        instances.onChange((_id, after, before) => {
          if (noticedAt === undefined || after === undefined) return;
          const { placement, status } = after.value;
          if (placement !== null && before?.value.placement == null && ++placed === missing)
            placedAt = Date.now();
          if (status.state !== 'ONLINE' || before?.value.status.state === 'ONLINE') return;
          if (++online < missing) return;
          for (const stop of unsubscribe) stop();
          resolve({ noticedAt, placedAt, onlineAt: Date.now() });
        }),
      ];
    });
  }

  /** What all worlds of the benchmark answer. */
  answers(): Readonly<Record<string, (about: string) => unknown>> {
    return {
      connected: () => this.connected(),
      losses: () => this.losses(),
      online: () => this.online(),
      place: (count) => this.place(Number(count)),
      watchLoss: (nodeId) => this.watchLoss(nodeId),
      untilReplaced: () => this.#replaced,
    };
  }
}
