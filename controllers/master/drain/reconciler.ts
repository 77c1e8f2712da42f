/** The drain controller: empties nodes whose record says so, in small steps. Key: node id. */
import type { PlacementView } from '../../../src/explain/decisions.js';
import type { Clock } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { Configuration, ConfigurationRecord } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import { hasFinished, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { Drain, DrainProgress } from '../../../src/model/node-drain.js';
import type { InstanceWriter } from '../../../src/store/instance-writes.js';
import type { LookupReader, MirrorReader } from '../../../src/store/mirror.js';
import { modify, type RecordSet } from '../../../src/store/modify.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { DrainFacts, HeldInstance, Outlook, Replacement } from './facts.js';
import { type DrainStep, plan } from './plan.js';
import { moveOf, progressOf } from './progress.js';

export interface DrainsOptions {
  readonly nodeRecords: RecordSet<NodeRecord>;
  readonly instances: MirrorReader<InstanceRecord>;
  readonly configurations: MirrorReader<ConfigurationRecord>;
  readonly instancesByNode: LookupReader<string>;
  readonly instancesByConfiguration: LookupReader<string>;
  readonly replacements: LookupReader<string>;
  /** What each node says to one more instance of the configuration. */
  readonly placementOfNext: (configuration: Configuration) => PlacementView;
  readonly writer: Pick<InstanceWriter, 'replace' | 'remove' | 'release'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A drain whose deadline was brought over to the monotonic clock: a jump of the wall clock does not move it. */
interface Timed {
  readonly since: number;
  readonly deadline: number;
  readonly endsAt: number;
}

export class Drains implements Reconciler<DrainFacts, DrainStep> {
  readonly name = 'drain';
  readonly plan = plan;
  readonly #options: DrainsOptions;
  readonly #timed = new Map<string, Timed>();

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  observe(nodeId: string): DrainFacts | undefined {
    const node = this.#options.nodeRecords.mirror.get(nodeId)?.value;
    if (node?.drain === undefined) this.#timed.delete(nodeId);
    if (node === undefined) return undefined;
    const { condition, drain } = node;
    const outlooks = new Map<string, Outlook>();
    const instances = [...this.#options.instancesByNode.get(nodeId)]
      .flatMap((id) => this.#options.instances.get(id)?.value ?? [])
      .filter((record) => !isAtRest(record))
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      .map((record) => this.#held(record, drain !== undefined, outlooks));
    return {
      nodeId,
      condition,
      drain,
      remainingMs: drain === undefined ? 0 : this.#remainingMs(nodeId, drain),
      instances,
    };
  }

  /** How far the drain of a node has come; undefined: it is not being drained. */
  progressOf(nodeId: string): DrainProgress | undefined {
    const facts = this.observe(nodeId);
    return facts === undefined ? undefined : progressOf(facts);
  }

  /** What the drain of its node means for an instance; undefined: its node is not being drained. */
  moveOf(id: string): string | undefined {
    const nodeId = this.#options.instances.get(id)?.value.placement?.nodeId;
    if (nodeId === undefined || this.#options.nodeRecords.mirror.get(nodeId)?.value.drain === undefined)
      return undefined;
    const facts = this.observe(nodeId);
    return facts === undefined ? undefined : moveOf(facts, id);
  }

  /** The nodes whose drain a change of this instance may concern. */
  *concerned(record: InstanceRecord): Generator<string> {
    const { instances, nodeRecords } = this.#options;
    const nodeId = record.placement?.nodeId;
    if (nodeId !== undefined && nodeRecords.mirror.get(nodeId)?.value.drain !== undefined) yield nodeId;
    if (record.replaces === undefined) return;
    const replaced = instances.get(record.replaces)?.value.placement?.nodeId;
    if (replaced !== undefined) yield replaced;
  }

  async perform(step: DrainStep): Promise<void> {
    switch (step.do) {
      case 'create':
      case 'replace':
        return this.#replace(step);
      case 'remove':
        return this.#remove(step);
      case 'release':
        return this.#options.writer.release(step.id);
      case 'set-done':
        return this.#setDone(step);
      default:
        return step satisfies never;
    }
  }

  #held(record: InstanceRecord, isDraining: boolean, outlooks: Map<string, Outlook>): HeldInstance {
    const { id, configurationName, desired, status } = record;
    const players = status.players ?? 0;
    const replacement = this.#replacementOf(id);
    const isMovable = isDraining && replacement === undefined && desired.goal === 'run' && !record.static;
    return {
      id,
      configurationName,
      goal: desired.goal === 'run' ? 'run' : 'ending',
      static: record.static,
      isUp: status.state === 'ONLINE' || players > 0,
      players,
      replacement,
      isSpare: record.replaces !== undefined && this.#isWanted(record.replaces),
      outlook: isMovable ? this.#outlookOf(configurationName, outlooks) : NO_OUTLOOK,
    };
  }

  #isWanted(id: string): boolean {
    const record = this.#options.instances.get(id)?.value;
    return record?.desired.goal === 'run' && record.placement !== null;
  }

  #replacementOf(id: string): Replacement | undefined {
    for (const other of this.#options.replacements.get(id)) {
      const record = this.#options.instances.get(other)?.value;
      // What is on a lost node takes nobody's place.
      if (record?.desired.goal !== 'run' || record.status.reason === 'node-lost') continue;
      const { state, message, players } = record.status;
      const isJudged = record.placement !== null || message !== null;
      const isUp = state === 'ONLINE' || hasFinished(record);
      return { id: other, state, isUp, message, players: players ?? 0, isJudged };
    }
    return undefined;
  }

  /** Asked once for all instances of a configuration. */
  #outlookOf(name: string, outlooks: Map<string, Outlook>): Outlook {
    const known = outlooks.get(name);
    if (known !== undefined) return known;
    const outlook = this.#lookAround(name);
    outlooks.set(name, outlook);
    return outlook;
  }

  #lookAround(name: string): Outlook {
    const { configurations, placementOfNext, instances, instancesByConfiguration } = this.#options;
    const configuration = configurations.get(name)?.value.configuration;
    if (configuration === undefined)
      return {
        obstacle: 'its configuration was removed, so nothing can replace it; delete it when it is not needed',
        isAtMaximum: false,
      };
    const { nodes, summary, templateProblems } = placementOfNext(configuration);
    const { maximumServiceCount: maximum } = configuration;
    let wanted = 0;
    if (maximum !== undefined)
      for (const id of instancesByConfiguration.get(name))
        if (instances.get(id)?.value.desired.goal === 'run') wanted++;
    return {
      obstacle:
        templateProblems.length > 0
          ? templateProblems.join('; ')
          : nodes.some(({ fits }) => fits)
            ? null
            : `0/${nodes.length} nodes fit: ${summary}`,
      isAtMaximum: maximum !== undefined && wanted >= maximum,
    };
  }

  #remainingMs(nodeId: string, { since, deadline }: Drain): number {
    const { clock } = this.#options;
    let timed = this.#timed.get(nodeId);
    if (timed?.since !== since || timed.deadline !== deadline) {
      // A wall clock that was set back meanwhile does not prolong it.
      const left = Math.min(Math.max(0, deadline - clock.now()), deadline - since);
      timed = { since, deadline, endsAt: clock.monotonic() + left };
      this.#timed.set(nodeId, timed);
    }
    return Math.max(0, timed.endsAt - clock.monotonic());
  }

  async #replace({ id, do: how }: DrainStep & { do: 'create' | 'replace' }): Promise<void> {
    const { writer, instances, logger } = this.#options;
    const made = await writer.replace(id, { removeFirst: how === 'replace' }).catch(asConflict);
    if (made === undefined) throw new Conflict(`instance ${id} or its configuration changed meanwhile`);
    const record = instances.get(id)?.value;
    logger.info(
      { instance: id, replacement: made, node: record?.placement?.nodeId },
      how === 'create'
        ? `draining: ${made} is made to replace ${id}`
        : `draining: ${id} is stopped, ${made} replaces it`,
    );
  }

  async #remove({ id, why }: DrainStep & { do: 'remove' }): Promise<void> {
    await this.#options.writer.remove(id).catch(asConflict);
    this.#options.logger.info({ instance: id }, `draining: ${id} is removed: ${why}`);
  }

  async #setDone({ nodeId, isDone }: DrainStep & { do: 'set-done' }): Promise<void> {
    const { nodeRecords, clock, logger } = this.#options;
    const doneAt = isDone ? clock.now() : null;
    const written = await modify(nodeRecords, nodeId, (node) =>
      node.drain === undefined ? undefined : { ...node, drain: { ...node.drain, doneAt } },
    );
    if (written === undefined) return;
    const stays = this.progressOf(nodeId)?.waitingFor.join('; ') ?? '';
    const text = isDone
      ? `node ${nodeId} is drained${stays === '' ? '' : `: ${stays}`}`
      : `node ${nodeId} is not drained any more`;
    logger.info({ node: nodeId }, text);
  }
}

const NO_OUTLOOK: Outlook = { obstacle: null, isAtMaximum: false };

/** The instance or its configuration went between the look and the write. */
function asConflict(error: unknown): never {
  if (DroverError.is(error, 'DRV_INSTANCE_UNKNOWN') || DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN'))
    throw new Conflict(error.message);
  throw error;
}
