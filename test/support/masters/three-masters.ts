/** Three masters on one etcd, each a process with a root and directories of its own. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type EtcdCluster, startEtcd } from '../etcd/etcd-server.js';
import { newPrefix } from '../etcd/etcd-world.js';
import { until } from '../until.js';
import { MasterProcess } from './master-process.js';

export class ThreeMasters {
  #etcd: EtcdCluster;
  readonly all: readonly MasterProcess[];

  private constructor(etcd: EtcdCluster, all: readonly MasterProcess[]) {
    this.#etcd = etcd;
    this.all = all;
  }

  /** Resolves when all of them answer and name the same leader. `prepare`: called with each before it starts. */
  static async start(
    settings: Readonly<Record<string, unknown>> = {},
    prepare: (master: MasterProcess) => void = () => undefined,
  ): Promise<ThreeMasters> {
    const etcd = await startEtcd();
    const options = { endpoints: etcd.endpoints, prefix: newPrefix(), settings };
    const first = await MasterProcess.create({ ...options, nodeId: 'master-a' });
    prepare(first);
    first.spawn();
    await until(() => first.api.instances());
    const all = [first];
    for (const nodeId of ['master-b', 'master-c']) {
      const master = await MasterProcess.create({ ...options, nodeId, keysOf: first.paths });
      all.push(master);
      prepare(master);
      master.spawn();
      await until(() => master.api.instances());
    }
    const masters = new ThreeMasters(etcd, all);
    await masters.roles();
    return masters;
  }

  /**
   * The leader that all running masters name, and the other running masters. `former`: waits for another leader than
   * this one.
   */
  async roles(former?: string): Promise<{ leader: MasterProcess; others: MasterProcess[] }> {
    const running = this.all.filter(({ process }) => process.isRunning);
    return until(async () => {
      const [leader = '', ...same] = await Promise.all(running.map((master) => master.untilLed(former)));
      expect(same).toEqual(same.map(() => leader));
      const found =
        running.find(({ nodeId }) => nodeId === leader) ?? expect.fail(`no master ${leader} runs`);
      return { leader: found, others: running.filter((master) => master !== found) };
    });
  }

  /** Ends everything and removes the roots. After a failed test it shows the output of the masters. */
  async finish({ isFailed }: { readonly isFailed: boolean }): Promise<void> {
    if (isFailed) for (const { nodeId, output } of this.all) console.log(`--- ${nodeId}\n${output}`);
    for (const master of this.all) await master.remove();
    await this.#etcd.stop();
  }

  /** Ends etcd and removes all its data. */
  loseEtcd(): Promise<void> {
    return this.#etcd.stop();
  }

  /** Starts an empty etcd, and writes its address into each config.json. */
  async newEtcd(): Promise<void> {
    this.#etcd = await startEtcd();
    const { endpoints } = this.#etcd;
    for (const { paths } of this.all) {
      const configuration = JSON.parse(readFileSync(paths.configFile, 'utf8'));
      configuration.store.endpoints = endpoints;
      writeFileSync(paths.configFile, JSON.stringify(configuration));
    }
  }
}

/** Writes a file under the root of a master, as an operator does. */
export function writeOn({ paths }: MasterProcess, file: string, text: string): void {
  const path = join(paths.root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The text of a file under the root of a master; undefined: there is no such file. */
export function readOn({ paths }: MasterProcess, file: string): string | undefined {
  const path = join(paths.root, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

export function removeOn({ paths }: MasterProcess, file: string): void {
  rmSync(join(paths.root, file), { recursive: true });
}
