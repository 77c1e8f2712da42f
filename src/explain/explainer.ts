/**
 * Gathers the facts for `why`: records, the controllers' present knowledge, and the nodes' descriptions of their
 * instances.
 */

import type { DirectoryInGit } from '../configuration-files/git-directory.js';
import type { Clock } from '../loop/clock.js';
import type {
  ConfigurationFileError,
  ConfigurationFileWarning,
  ConfigurationRecord,
} from '../model/configuration.js';
import { type ShownOverride, shownOverrides } from '../model/configuration-overrides.js';
import { nodeDisconnected } from '../model/errors.js';
import { lastExits } from '../model/exit-record.js';
import { byAge, hasDoneItsWork, type InstanceRecord, isServing } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import type { DrainProgress } from '../model/node-drain.js';
import { publicMessage } from '../model/public-message.js';
import type { InstanceDescription } from '../model/run/instance-description.js';
import { unknownConfiguration, unknownInstance, unknownNode } from '../model/unknown.js';
import { setAsideOf } from '../state/left-of-record.js';
import type { StateRecords } from '../state/master-state.js';
import { schedulesOf } from '../state/schedules.js';
import { explainConfiguration } from './configuration.js';
import type { ContactView, Decisions } from './decisions.js';
import {
  type ConfigurationExplanation,
  type InstanceExplanation,
  type InstanceRuns,
  MOST_LISTED,
  type NodeExplanation,
} from './explanation.js';
import type { GitFacts, InstanceFacts, NodeAnswer } from './facts.js';
import { faultsOf, isOfOneFile } from './files.js';
import { explainInstance, explainUnreadable, toPastExit } from './instance.js';
import { explainNode } from './node.js';

/** How long a node may take to answer. */
const ANSWER_WITHIN_MS = 2000;
/** How many lines of each past run are shown. */
const LINES = 10;
/** How many times the explainer asks a node when the record changes while the node answers. */
const MOST_LOOKS = 3;

interface NodeQuestion {
  readonly nodeId: string;
  readonly ids: readonly string[];
  readonly lines: number;
  readonly signal: AbortSignal;
}

/** The present faults and warnings of configuration files. */
export interface FileReports {
  /** The standing of the files in git. Never throws. */
  inGit(): Promise<DirectoryInGit>;
  place(): { readonly nodeId: string };
  errors(): readonly ConfigurationFileError[];
  warnings(): readonly ConfigurationFileWarning[];
}

interface ExplainerOptions
  extends Pick<
    StateRecords,
    | 'instances'
    | 'configurations'
    | 'nodes'
    | 'overrides'
    | 'rollouts'
    | 'exits'
    | 'timetableRecords'
    | 'instancesByConfiguration'
    | 'instancesByNode'
  > {
  readonly histories: Pick<StateRecords['histories'], 'get'>;
  readonly files: FileReports;
  readonly decisions: Decisions;
  /** The RAM and CPU that placement has given out on a node. */
  readonly usedOf: (nodeId: string) => { readonly ramMB: number; readonly cpu: number };
  /** How far the drain of a node has come; undefined: the node is not being drained. */
  readonly drainOf: (nodeId: string) => DrainProgress | undefined;
  /** Asks a node about its instances. Throws errors that an operator may read. */
  readonly askNode: (question: NodeQuestion) => Promise<ReadonlyMap<string, InstanceDescription>>;
  readonly clock: Clock;
}

/** The facts that all instances of one configuration share. */
interface Shared extends Pick<InstanceFacts, 'configuration' | 'fileErrors' | 'fileWarnings' | 'service'> {
  /** The contacts of nodes, filled as they are needed. */
  readonly contacts: Map<string, ContactView | undefined>;
}

/** Gathers the facts, asks the nodes that have the instances, and explains. Changes nothing; may run concurrently. */
export class Explainer {
  readonly #options: ExplainerOptions;

  constructor(options: ExplainerOptions) {
    this.#options = options;
  }

  /** Explains an instance. Throws DRV_INSTANCE_UNKNOWN. */
  async instance(id: string): Promise<InstanceExplanation> {
    const { instances, nodes } = this.#options;
    const aside = instances.setAside.get(id);
    if (aside !== undefined)
      return explainUnreadable(id, aside, (nodeId) => nodes.get(nodeId)?.value.condition);
    for (let looks = 1; ; looks++) {
      const before = this.#visible(id);
      const answers = await this.#ask([before.value], LINES);
      const after = this.#visible(id);
      // Ask again: an answer about the former record explains neither the old nor the new one.
      if (after.revision !== before.revision && looks < MOST_LOOKS) continue;
      const shared = this.#shared(after.value.configurationName);
      const facts = this.#factsOf(after.value, answers, shared);
      const move = this.#options.decisions.moveOf(id);
      const ends = lastExits(this.#options.exits.entries(), ({ instance }) => instance === id);
      return explainInstance({ ...facts, move, lastExits: ends }, this.#options.clock.now());
    }
  }

  /**
   * How the last runs of an instance ended, with up to `lines` lines of each, 50 at most. Throws DRV_INSTANCE_UNKNOWN,
   * and DRV_NODE_DISCONNECTED when its node does not answer.
   */
  async runs(id: string, lines: number): Promise<InstanceRuns> {
    const { value: record } = this.#visible(id);
    const answer = (await this.#ask([record], lines)).get(id);
    if (answer?.kind === 'silent') throw nodeDisconnected(`node ${record.placement?.nodeId}: ${answer.why}`);
    const description = answer?.kind === 'answered' ? answer.description : undefined;
    const { run = 0, upForMs = null, exits = [] } = description ?? {};
    const current = upForMs === null ? null : { run, upForMs };
    return { instanceId: id, current, runs: exits.map(toPastExit) };
  }

  /**
   * Explains a configuration. Its name may also stand only in a broken file, or only in instances that
   * outlived the configuration. Throws DRV_CONFIGURATION_UNKNOWN.
   */
  async configuration(name: string): Promise<ConfigurationExplanation> {
    this.#refuseUnknown(name);
    const listed = this.#visibleOf(name, 'instancesByConfiguration')
      .toSorted(byTrouble)
      .slice(0, MOST_LISTED);
    const [answers, inGit] = await Promise.all([this.#ask(listed, 0), this.#options.files.inGit()]);
    // Read everything else after the answers, without an await in between, so that the facts fit together.
    this.#refuseUnknown(name);
    const shared = this.#shared(name);
    const { configuration, fileErrors, fileWarnings, service } = shared;
    const all = new Map(this.#visibleOf(name, 'instancesByConfiguration').map((one) => [one.id, one]));
    const wanted = [...all.values()].filter(
      (record) => record.desired.goal === 'run' && !hasDoneItsWork(record),
    );
    return explainConfiguration(
      {
        name,
        record: configuration,
        git: this.#gitOf(configuration, inGit),
        fileErrors,
        fileWarnings,
        overrides: this.#overridesOf(name),
        service,
        leaving: this.#options.decisions.leavingOf(name),
        rollout: this.#options.rollouts.get(name)?.value,
        schedules: schedulesOf(this.#options, name),
        frozen: this.#options.timetableRecords.mirror.get(name)?.value.frozen,
        placement: configuration && this.#options.decisions.placementOfNext(configuration.configuration),
        instances: listed.flatMap(({ id }) => {
          const record = all.get(id);
          return record === undefined ? [] : [this.#factsOf(record, answers, shared)];
        }),
        instancesTotal: all.size,
        unreadable: [...setAsideOf(this.#options.instances.setAside, name)].map(([id]) => id),
        lastExits: lastExits(this.#options.exits.entries(), (exit) => exit.configuration === name),
        wanted: wanted.length,
        online: wanted.filter(isServing).length,
      },
      this.#options.clock.now(),
    );
  }

  /** Explains a node. Throws DRV_NODE_UNKNOWN. */
  async node(nodeId: string): Promise<NodeExplanation> {
    this.#nodeRecord(nodeId);
    const listed = this.#visibleOf(nodeId, 'instancesByNode').toSorted(byTrouble).slice(0, MOST_LISTED);
    const answers = await this.#ask(listed, 0);
    // Read everything else after the answers, without an await in between, so that the facts fit together.
    const node = this.#nodeRecord(nodeId);
    const { usedOf, drainOf, decisions, clock } = this.#options;
    const all = new Map(this.#visibleOf(nodeId, 'instancesByNode').map((one) => [one.id, one]));
    const instances = listed.flatMap(({ id }) => {
      const record = all.get(id);
      if (record === undefined) return [];
      const facts = this.#factsOf(record, answers, this.#shared(record.configurationName));
      return [{ ...facts, move: decisions.moveOf(id) }];
    });
    const contact = decisions.contactOf(nodeId);
    const used = usedOf(nodeId);
    const facts = { node, contact, drain: drainOf(nodeId), used, instances, instancesTotal: all.size };
    return explainNode(facts, clock.now());
  }

  #overridesOf(name: string): ShownOverride[] {
    const overrides = this.#options.overrides.get(name)?.value;
    return overrides === undefined ? [] : shownOverrides(name, overrides);
  }

  #gitOf(
    record: ConfigurationRecord | undefined,
    { standing, files: states }: DirectoryInGit,
  ): GitFacts | undefined {
    const { files, histories } = this.#options;
    if (record === undefined || standing === null || record.sourceNode !== files.place().nodeId)
      return undefined;
    const last = histories.get(record.configuration.name)?.value.contents.at(-1);
    const commitInForce = last?.revision === record.hash ? last.commit : null;
    return { standing, file: states.get(record.sourceFile), commitInForce };
  }

  #refuseUnknown(name: string): void {
    const { configuration, fileErrors } = this.#shared(name);
    if (configuration !== undefined || fileErrors.some(isOfOneFile)) return;
    if (this.#visibleOf(name, 'instancesByConfiguration').length === 0) throw unknownConfiguration(name);
  }

  #visible(id: string): { readonly value: InstanceRecord; readonly revision: number } {
    const entry = this.#options.instances.get(id);
    if (entry !== undefined && entry.value.desired.goal !== 'remove') return entry;
    throw unknownInstance(id);
  }

  /** The instances of a configuration or on a node that are not being removed. */
  #visibleOf(key: string, lookup: 'instancesByConfiguration' | 'instancesByNode'): InstanceRecord[] {
    return [...this.#options[lookup].get(key)]
      .flatMap((id) => this.#options.instances.get(id)?.value ?? [])
      .filter(({ desired }) => desired.goal !== 'remove');
  }

  #nodeRecord(nodeId: string): NodeRecord {
    const record = this.#options.nodes.get(nodeId)?.value;
    if (record === undefined) throw unknownNode(nodeId);
    return record;
  }

  #shared(name: string): Shared {
    const { configurations, files, decisions } = this.#options;
    const configuration = configurations.get(name)?.value;
    return {
      configuration,
      fileErrors: faultsOf(name, configuration, files.errors()),
      fileWarnings: files.warnings().filter((warning) => warning.name === name),
      service: decisions.serviceOf(name),
      contacts: new Map(),
    };
  }

  #factsOf(
    record: InstanceRecord,
    answers: ReadonlyMap<string, NodeAnswer>,
    { contacts, ...shared }: Shared,
  ): InstanceFacts {
    const { nodes, decisions } = this.#options;
    const nodeId = record.placement?.nodeId;
    if (nodeId !== undefined && !contacts.has(nodeId)) contacts.set(nodeId, decisions.contactOf(nodeId));
    return {
      ...shared,
      record,
      placement: decisions.placementOf(record.id),
      node: nodeId === undefined ? undefined : nodes.get(nodeId)?.value,
      contact: nodeId === undefined ? undefined : contacts.get(nodeId),
      answer: answers.get(record.id) ?? { kind: 'none' },
    };
  }

  /** Asks each node that has some of the instances one question, all at the same time. */
  async #ask(records: readonly InstanceRecord[], lines: number): Promise<Map<string, NodeAnswer>> {
    const idsByNode = new Map<string, string[]>();
    for (const { id, placement } of records) {
      if (placement === null) continue;
      const ids = idsByNode.get(placement.nodeId) ?? [];
      idsByNode.set(placement.nodeId, [...ids, id]);
    }
    const answers = await Promise.all(
      [...idsByNode].map(([nodeId, ids]) => this.#askNode(nodeId, ids, lines)),
    );
    return new Map(answers.flat());
  }

  async #askNode(nodeId: string, ids: readonly string[], lines: number): Promise<[string, NodeAnswer][]> {
    const { askNode, clock } = this.#options;
    const late = new AbortController();
    const timer = clock.setTimer(ANSWER_WITHIN_MS, () => late.abort());
    try {
      const found = await askNode({ nodeId, ids, lines, signal: late.signal });
      return ids.map((id) => [id, { kind: 'answered', description: found.get(id) }]);
    } catch (error) {
      const why = late.signal.aborted
        ? `it did not answer within ${ANSWER_WITHIN_MS / 1000} s`
        : publicMessage(error);
      return ids.map((id) => [id, { kind: 'silent', why }]);
    } finally {
      timer.cancel();
    }
  }
}

/** Instances in trouble first, then the oldest. */
function byTrouble(a: InstanceRecord, b: InstanceRecord): number {
  return rank(a) - rank(b) || byAge(a, b);
}

function rank(record: InstanceRecord): number {
  const { desired, status } = record;
  if (desired.goal === 'run')
    return (status.state === 'ONLINE' && status.reason === null) || hasDoneItsWork(record) ? 1 : 0;
  return status.state === 'STOPPED' ? 2 : 0;
}
