/**
 * The content of the state, transaction by transaction, in the shapes of the model. The invariants judge by
 * it, whatever the daemons believe at the moment.
 */
import {
  type Configuration,
  configurationRecordSchema,
  configurationSchema,
} from '../../src/model/configuration.js';
import {
  type ConfigurationHistory,
  configurationHistorySchema,
} from '../../src/model/configuration-history.js';
import { type InstanceRecord, instanceOf, instanceRecordSchema } from '../../src/model/instance.js';
import { type NodeRecord, nodeRecordSchema } from '../../src/model/node.js';
import { PREFIX } from '../../src/store/keys.js';
import type { Committed, Disk } from './machine/disk.js';

interface RecordListener {
  onInstance(before: InstanceRecord | undefined, after: InstanceRecord | undefined): void;
  onNode(before: NodeRecord | undefined, after: NodeRecord | undefined): void;
}

export class RecordBook {
  readonly instances = new Map<string, InstanceRecord>();
  readonly nodes = new Map<string, NodeRecord>();
  readonly configurations = new Map<string, Configuration>();
  /** Maxima that were in force a moment ago: who reads a copy of the store may not have seen the change yet. */
  readonly formerMaxima = new Map<string, number | undefined>();
  /**
   * What the last commit has replaced: instances, nodes and maxima. etcd takes several transactions as one, so what is made in it
   * may have been made before it changed them.
   */
  readonly replaced = {
    instances: new Map<string, InstanceRecord>(),
    nodes: new Map<string, NodeRecord>(),
    maxima: new Map<string, number | undefined>(),
  };
  readonly revisions = new Map<string, Configuration>();
  readonly histories = new Map<string, ConfigurationHistory>();
  /** Changes that are more than other words for why an instance has no place: these are brought up to date in time. */
  changes = 0;
  /** Every instance ever recorded, in order of appearance. */
  readonly everSeen: string[] = [];

  constructor(state: Pick<Disk, 'onCommit'>, listener: RecordListener) {
    state.onCommit((changes) => {
      for (const before of Object.values(this.replaced)) before.clear();
      const told = changes.map((change) => this.#take(change, listener));
      for (const tell of told) tell?.();
    });
  }

  #take({ key, after }: Committed, listener: RecordListener): (() => void) | undefined {
    // Old ends go once an hour: after a jump of the clock a look finds them earlier.
    const isSwept = key.startsWith(PREFIX.exits) && after === undefined;
    if (!key.startsWith(PREFIX.instances) && !isSwept) this.changes++;
    if (key.startsWith(PREFIX.instances)) {
      const id = key.slice(PREFIX.instances.length);
      const before = this.instances.get(id);
      const now = put(this.instances, id, after, (value) => instanceOf(instanceRecordSchema.parse(value)));
      if (!isReworded(before, now)) this.changes++;
      if (before === undefined) this.everSeen.push(id);
      else this.replaced.instances.set(id, before);
      return () => listener.onInstance(before, now);
    }
    if (key.startsWith(PREFIX.nodes)) {
      const id = key.slice(PREFIX.nodes.length);
      const before = this.nodes.get(id);
      const now = put(this.nodes, id, after, (value) => nodeRecordSchema.parse(value));
      if (before !== undefined) this.replaced.nodes.set(id, before);
      return () => listener.onNode(before, now);
    }
    if (key.startsWith(PREFIX.configurations)) {
      const name = key.slice(PREFIX.configurations.length);
      const maximum = this.configurations.get(name)?.maximumServiceCount;
      this.formerMaxima.set(name, maximum);
      this.replaced.maxima.set(name, maximum);
      put(this.configurations, name, after, (value) => configurationRecordSchema.parse(value).configuration);
    }
    if (key.startsWith(PREFIX.histories)) {
      const name = key.slice(PREFIX.histories.length);
      put(this.histories, name, after, (value) => configurationHistorySchema.parse(value));
    }
    if (key.startsWith(PREFIX.revisions)) {
      const hash = key.slice(PREFIX.revisions.length);
      put(this.revisions, hash, after, (value) => configurationSchema.parse(value));
    }
    return undefined;
  }
}

function put<T>(
  map: Map<string, T>,
  id: string,
  value: unknown,
  parse: (value: unknown) => T,
): T | undefined {
  if (value === undefined) {
    map.delete(id);
    return undefined;
  }
  const parsed = parse(value);
  map.set(id, parsed);
  return parsed;
}

function isReworded(before: InstanceRecord | undefined, after: InstanceRecord | undefined): boolean {
  if (before === undefined || after === undefined || after.placement !== null) return false;
  const wordless = ({ status, ...rest }: InstanceRecord): string =>
    JSON.stringify({ ...rest, status: { ...status, message: null } });
  return wordless(before) === wordless(after);
}
