/** The master's mirrors and lookups, built once over its store. The controllers, the channel and the API read them. */
import type { z } from 'zod';
import { KeyedTurns } from '../loop/keyed-turns.js';
import { hasEndedByItself, type InstanceRecord, instanceOf } from '../model/instance.js';
import { wordOf } from '../model/instance-word.js';
import { decoderOf } from '../store/decoder.js';
import { EPOCH_BASE, lineOf, type StoreLine } from '../store/epoch-base.js';
import { instanceKey, nodeKey, PREFIX, rolloutKey, timetableKey } from '../store/keys.js';
import { Mirror, type MirrorOptions } from '../store/mirror.js';
import type { RecordSet } from '../store/modify.js';
import type { Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import { ContentsInForce } from './contents-in-force.js';
import { InstanceCounts } from './instance-counts.js';
import { RECORD_SCHEMAS } from './record-schemas.js';

/** A stored record that is set aside, by its key. */
export interface UnreadableRecord {
  readonly key: string;
  /** The fault of the record, for a person. */
  readonly problem: string;
}

type Kind = keyof typeof RECORD_SCHEMAS;
type Plain = { readonly [K in Kind]: z.output<(typeof RECORD_SCHEMAS)[K]> };

/** The mirrors of a state, as wholes: the class below names them. */
class StateMirrors {
  readonly store: Store;
  readonly #logger: Logger;
  readonly #mirrors: Pick<Mirror<unknown>, 'start' | 'stop' | 'prefix' | 'setAside'>[] = [];
  #line: StoreLine = lineOf(undefined);

  constructor(store: Store, logger: Logger) {
    this.store = store;
    this.#logger = logger;
    // Copies of these two only tell which records cannot be read; everything else reads the store.
    this.known('members');
    this.known('joinTokens');
  }

  protected known<K extends Kind>(kind: K): Mirror<Plain[K]> {
    return this.mirror(PREFIX[kind], (value) => RECORD_SCHEMAS[kind].parse(value) as Plain[K]);
  }

  protected mirror<T>(prefix: string, decode: MirrorOptions<T>['decode']): Mirror<T> {
    const made = new Mirror({
      store: this.store,
      prefix,
      decode,
      onSetAside: (id, { problem }) =>
        this.#logger.error(
          { key: prefix + id },
          `the record ${prefix}${id} cannot be read (${problem}): it is set aside and kept as it is`,
        ),
      onListenerError: (error) => this.#logger.error({ err: error }, `a listener of ${prefix} failed`),
    });
    this.#mirrors.push(made);
    return made;
  }

  protected records<T>(mirror: Mirror<T>, keyOf: RecordSet<T>['keyOf']): RecordSet<T> {
    return { store: this.store, mirror, keyOf, turns: new KeyedTurns() };
  }

  /**
   * The line of the store: the history that its revisions belong to. The line changes only while no master has the
   * store open.
   */
  get line(): StoreLine {
    return this.#line;
  }

  async start(): Promise<void> {
    this.#line = lineOf((await this.store.get(EPOCH_BASE))?.value);
    await Promise.all(this.#mirrors.map((mirror) => mirror.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#mirrors.map((mirror) => mirror.stop()));
  }

  /** The records that are set aside, by kind. */
  *unreadable(): Generator<UnreadableRecord> {
    for (const { prefix, setAside } of this.#mirrors)
      for (const [id, { problem }] of setAside) yield { key: prefix + id, problem };
  }

  /** How many records of each kind are set aside. */
  unreadableCounts(): ReadonlyMap<string, number> {
    return new Map(this.#mirrors.map(({ prefix, setAside }) => [prefix.slice(0, -1), setAside.size]));
  }
}

export class MasterState extends StateMirrors {
  readonly instances = this.mirror(PREFIX.instances, instanceDecoder());
  readonly configurations = this.known('configurations');
  readonly revisions = this.known('revisions');
  /** The last contents of each configuration. */
  readonly histories = this.known('histories');
  /** The changes of callers, where Drover does not write the files. */
  readonly overrides = this.known('overrides');
  /** The newest commits of clones. */
  readonly clones = this.known('clones');
  /** The last events, for people. */
  readonly events = this.known('events');
  /** The ends that nobody asked for. */
  readonly exits = this.known('exits');
  /** How far each webhook has come. */
  readonly notices = this.known('notices');
  /** The sealed secrets of programs. */
  readonly programSecrets = this.known('programSecrets');
  readonly nodes = this.known('nodes');
  /** The rollouts by the name of the configuration. */
  readonly rollouts = this.known('rollouts');
  /** The timetables by the name of the configuration. */
  readonly timetables = this.known('timetables');
  readonly keys = this.known('keys');
  readonly sessions = this.known('sessions');
  readonly exitsByInstance = this.exits.lookup(({ instance }) => [instance]);
  readonly instancesByConfiguration = this.instances.lookup((record) => [record.configurationName]);
  readonly instancesByNode = this.instances.lookup(({ placement }) =>
    placement === null ? [] : [placement.nodeId],
  );
  readonly instancesByRevision = this.instances.lookup((record) => [record.revision]);
  /** Instances by `<group>/<name>` of the templates that they were placed with. */
  readonly instancesByTemplate = this.instances.lookup(({ placement }) =>
    (placement?.templates ?? []).map(({ group, name }) => `${group}/${name}`),
  );
  /** The instances that were made to replace an original, by the original's id. */
  readonly replacements = this.instances.lookup(({ replaces }) => (replaces === undefined ? [] : [replaces]));
  /** The instances that ended by themselves, by configuration. */
  readonly endedByConfiguration = this.instances.lookup((record) =>
    record.desired.goal !== 'remove' && hasEndedByItself(record) ? [record.configurationName] : [],
  );
  /** How many instances each configuration has, by their state and by the revision that they were made from. */
  readonly instanceStates = new InstanceCounts(this.instances, ({ status }) => status.state);
  readonly instanceRevisions = new InstanceCounts(this.instances, ({ revision }) => revision);
  /** How many instances of each configuration do well, fail or wait, for its health. */
  readonly instanceWords = new InstanceCounts(this.instances, wordOf);
  readonly configurationsByHash = this.configurations.lookup((record) => [record.hash]);
  /** The configurations whose history has a revision, by revision. */
  readonly historiesByRevision = this.histories.lookup(({ contents }) => [
    ...new Set(contents.map(({ revision }) => revision)),
  ]);
  /** The configurations whose rollout names a revision, by revision. */
  readonly rolloutsByRevision = this.rollouts.lookup(({ from, to }) =>
    from === null || from === to ? [to] : [from, to],
  );
  /** The content that new instances of each configuration get. */
  readonly contents: ContentsInForce = new ContentsInForce(this);
  readonly instanceRecords = this.records(this.instances, instanceKey);
  readonly nodeRecords = this.records(this.nodes, nodeKey);
  readonly rolloutRecords = this.records(this.rollouts, rolloutKey);
  readonly timetableRecords = this.records(this.timetables, timetableKey);
}

function instanceDecoder(): MirrorOptions<InstanceRecord>['decode'] {
  const decode = decoderOf(RECORD_SCHEMAS.instances);
  return (value, known) => instanceOf(decode(value, known));
}

/** The mirrors and lookups of the state. Readers take all of them, and use what they need. */
export type StateRecords = Omit<MasterState, 'line' | 'start' | 'stop' | 'unreadable' | 'unreadableCounts'>;
