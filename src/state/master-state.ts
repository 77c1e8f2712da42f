/** The master's mirrors and lookups, built once over its store. The controllers, the channel and the API read them. */
import type { z } from 'zod';
import { KeyedTurns } from '../loop/keyed-turns.js';
import type { ApiKeyRecord } from '../model/access/api-key.js';
import type { SessionRecord } from '../model/access/session.js';
import type { Configuration, ConfigurationRecord } from '../model/configuration.js';
import type { ConfigurationHistory } from '../model/configuration-history.js';
import type { ConfigurationOverrides } from '../model/configuration-overrides.js';
import type { EventRecord } from '../model/event.js';
import type { ExitRecord } from '../model/exit-record.js';
import type { CloneRecord } from '../model/git-standing.js';
import { hasEndedByItself, type InstanceRecord, type InstanceState, instanceOf } from '../model/instance.js';
import { type InstanceWord, wordOf } from '../model/instance-word.js';
import type { NodeRecord } from '../model/node.js';
import type { RolloutRecord } from '../model/rollout.js';
import type { Timetable } from '../model/schedule.js';
import type { NoticeRecord } from '../model/webhook.js';
import { decoderOf } from '../store/decoder.js';
import { EPOCH_BASE, lineOf, type StoreLine } from '../store/epoch-base.js';
import { instanceKey, nodeKey, PREFIX, rolloutKey, timetableKey } from '../store/keys.js';
import type { LookupReader } from '../store/lookup.js';
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

type Plain = { readonly [Kind in keyof typeof RECORD_SCHEMAS]: z.output<(typeof RECORD_SCHEMAS)[Kind]> };

export class MasterState {
  readonly store: Store;
  readonly instances: Mirror<InstanceRecord>;
  readonly configurations: Mirror<ConfigurationRecord>;
  readonly revisions: Mirror<Configuration>;
  /** The last contents of each configuration. */
  readonly histories: Mirror<ConfigurationHistory>;
  /** The changes of callers, where Drover does not write the files. */
  readonly overrides: Mirror<ConfigurationOverrides>;
  /** The newest commits of clones. */
  readonly clones: Mirror<CloneRecord>;
  /** The last events, for people. */
  readonly events: Mirror<EventRecord>;
  /** The ends that nobody asked for. */
  readonly exits: Mirror<ExitRecord>;
  /** How far each webhook has come. */
  readonly notices: Mirror<NoticeRecord>;
  readonly nodes: Mirror<NodeRecord>;
  /** The rollouts by the name of the configuration. */
  readonly rollouts: Mirror<RolloutRecord>;
  /** The timetables by the name of the configuration. */
  readonly timetables: Mirror<Timetable>;
  readonly keys: Mirror<ApiKeyRecord>;
  readonly sessions: Mirror<SessionRecord>;
  readonly instancesByConfiguration: LookupReader<string>;
  readonly instancesByNode: LookupReader<string>;
  readonly instancesByRevision: LookupReader<string>;
  /** Instances by `<group>/<name>` of the templates that they were placed with. */
  readonly instancesByTemplate: LookupReader<string>;
  /** The instances that were made to replace an original, by the original's id. */
  readonly replacements: LookupReader<string>;
  /** The instances that ended by themselves, by configuration. */
  readonly endedByConfiguration: LookupReader<string>;
  /** How many instances each configuration has, by their state and by the revision that they were made from. */
  readonly instanceStates: InstanceCounts<InstanceState>;
  readonly instanceRevisions: InstanceCounts<string>;
  /** How many instances of each configuration do well, fail or wait, for its health. */
  readonly instanceWords: InstanceCounts<InstanceWord>;
  readonly configurationsByHash: LookupReader<string>;
  /** The configurations whose history has a revision, by revision. */
  readonly historiesByRevision: LookupReader<string>;
  /** The configurations whose rollout names a revision, by revision. */
  readonly rolloutsByRevision: LookupReader<string>;
  /** The content that new instances of each configuration get. */
  readonly contents: ContentsInForce;
  readonly instanceRecords: RecordSet<InstanceRecord>;
  readonly nodeRecords: RecordSet<NodeRecord>;
  readonly rolloutRecords: RecordSet<RolloutRecord>;
  readonly timetableRecords: RecordSet<Timetable>;
  #line: StoreLine = lineOf(undefined);
  readonly #mirrors: Pick<Mirror<unknown>, 'start' | 'stop' | 'prefix' | 'setAside'>[] = [];

  constructor(store: Store, logger: Logger) {
    this.store = store;
    const mirror = <T>(prefix: string, decode: MirrorOptions<T>['decode']): Mirror<T> => {
      const made = new Mirror({
        store,
        prefix,
        decode,
        onSetAside: (id, { problem }) =>
          logger.error(
            { key: prefix + id },
            `the record ${prefix}${id} cannot be read (${problem}): it is set aside and kept as it is`,
          ),
        onListenerError: (error) => logger.error({ err: error }, `a listener of ${prefix} failed`),
      });
      this.#mirrors.push(made);
      return made;
    };
    const known = <K extends keyof Plain>(kind: K): Mirror<Plain[K]> =>
      mirror(PREFIX[kind], (value) => RECORD_SCHEMAS[kind].parse(value) as Plain[K]);
    const decode = decoderOf(RECORD_SCHEMAS.instances);
    this.instances = mirror(PREFIX.instances, (value, known) => instanceOf(decode(value, known)));
    this.configurations = known('configurations');
    this.revisions = known('revisions');
    this.histories = known('histories');
    this.overrides = known('overrides');
    this.clones = known('clones');
    this.events = known('events');
    this.exits = known('exits');
    this.notices = known('notices');
    this.nodes = known('nodes');
    this.rollouts = known('rollouts');
    this.timetables = known('timetables');
    this.keys = known('keys');
    this.sessions = known('sessions');
    // Copies of these two only tell which records cannot be read; everything else reads the store.
    known('members');
    known('joinTokens');
    this.instancesByConfiguration = this.instances.lookup((record) => [record.configurationName]);
    this.instancesByNode = this.instances.lookup((record) =>
      record.placement === null ? [] : [record.placement.nodeId],
    );
    this.instancesByRevision = this.instances.lookup((record) => [record.revision]);
    this.instancesByTemplate = this.instances.lookup((record) =>
      (record.placement?.templates ?? []).map(({ group, name }) => `${group}/${name}`),
    );
    this.replacements = this.instances.lookup(({ replaces }) => (replaces === undefined ? [] : [replaces]));
    this.endedByConfiguration = this.instances.lookup((record) =>
      record.desired.goal !== 'remove' && hasEndedByItself(record) ? [record.configurationName] : [],
    );
    this.instanceStates = new InstanceCounts(this.instances, ({ status }) => status.state);
    this.instanceRevisions = new InstanceCounts(this.instances, ({ revision }) => revision);
    this.instanceWords = new InstanceCounts(this.instances, wordOf);
    this.configurationsByHash = this.configurations.lookup((record) => [record.hash]);
    this.historiesByRevision = this.histories.lookup(({ contents }) => [
      ...new Set(contents.map(({ revision }) => revision)),
    ]);
    this.rolloutsByRevision = this.rollouts.lookup(({ from, to }) =>
      from === null || from === to ? [to] : [from, to],
    );
    this.contents = new ContentsInForce(this);
    this.instanceRecords = { store, mirror: this.instances, keyOf: instanceKey, turns: new KeyedTurns() };
    this.nodeRecords = { store, mirror: this.nodes, keyOf: nodeKey, turns: new KeyedTurns() };
    this.rolloutRecords = { store, mirror: this.rollouts, keyOf: rolloutKey, turns: new KeyedTurns() };
    this.timetableRecords = { store, mirror: this.timetables, keyOf: timetableKey, turns: new KeyedTurns() };
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

/** The mirrors and lookups of the state. Readers take all of them, and use what they need. */
export type StateRecords = Omit<MasterState, 'line' | 'start' | 'stop' | 'unreadable' | 'unreadableCounts'>;
