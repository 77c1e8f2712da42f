/**
 * Sends one node what it should hold: a snapshot first, then numbered deltas. An assignment is composed from the
 * master's mirrors when it is sent, so several changes of one instance travel as one.
 */
import type { Configuration } from '../../model/configuration.js';
import { DroverError, type ErrorCode, messageOf } from '../../model/errors.js';
import type { InstanceRecord, PlacedTemplate } from '../../model/instance.js';
import { isSameValue } from '../../model/plain/same-value.js';
import { publicMessage } from '../../model/public-message.js';
import type { ResolvedTemplate } from '../../model/template.js';
import { leftOfInstance } from '../../state/left-of-record.js';
import type { StateRecords } from '../../state/master-state.js';
import type { Secrets } from '../../state/secrets.js';
import type { StoreLine } from '../../store/epoch-base.js';
import type { Logger } from '../../telemetry/logger.js';
import { TreeUnsteady } from '../../templates/tree/tree.js';
import { hashAssignment } from '../protocol/assignment-hash.js';
import type { Assignment, SentSecrets } from '../protocol/messages.js';
import type { Transport } from '../protocol/transport.js';
import type { FeedPace } from './feed-pace.js';

/** How many instances one message holds; a frame stays well under a megabyte. */
const BATCH = 500;
/** Errors that the feed does not log: the storage library logs them once per attempt, however many instances wait. */
const SAID_ELSEWHERE: readonly ErrorCode[] = ['DRV_TEMPLATE_PENDING', 'DRV_STORAGE_FAILED'];

export interface FeedSources extends Pick<StateRecords, 'instances' | 'instancesByNode' | 'revisions'> {
  /** The line of the store that the mirrors show. */
  readonly line: StoreLine;
  readonly secrets: Pick<Secrets, 'open' | 'versionsFor'>;
  /**
   * The present digest of a template, or null when there is no such template. Throws the reason when the digest is not
   * available, or not yet.
   */
  templateDigest(group: string, name: string, storage: string): Promise<string | null>;
  /** Why a newer digest may come soon; undefined: the digest is the newest. Called after `templateDigest`. */
  templateNews(group: string, name: string, storage: string): string | undefined;
  /** The token with which the instance may PUT its own state. */
  issueInstanceToken(instanceId: string, createdAt: number): string;
}

interface NodeFeedOptions {
  readonly nodeId: string;
  readonly transport: Transport;
  readonly sources: FeedSources;
  /** The assignments that the node said it still has: hash by id. */
  readonly held?: Readonly<Record<string, string>> | undefined;
  readonly pace: FeedPace;
  readonly logger: Logger;
}

interface Batch {
  readonly put: Assignment[];
  readonly drop: string[];
  readonly unchanged: string[];
  readonly revisions: Record<string, Configuration>;
  readonly secrets: SentSecrets;
}

export class NodeFeed {
  readonly #options: NodeFeedOptions;
  /** The ids to send again. Their assignments are composed when they are sent. */
  readonly #dirty = new Set<string>();
  /** The ids of the instances that the node was told to hold. */
  readonly #told = new Set<string>();
  /** The id whose assignment is being composed, or is composed and not sent yet. */
  #composing: string | undefined;
  readonly #sentRevisions = new Set<string>();
  /**
   * The ids of instances whose content is not in the mirror yet, by the revision of that content. They are sent when
   * the content comes.
   */
  readonly #waiting = new Map<string, Set<string>>();
  #unsubscribe: (() => void) | undefined;
  #sequence = 0;
  #isFlushing = false;
  #hasSnapshot = false;
  #isClosed = false;

  constructor(options: NodeFeedOptions) {
    this.#options = options;
  }

  /** Sends everything that the node should hold. Later changes follow as deltas. */
  start(): void {
    if (this.#isClosed) return;
    const { instances, instancesByNode, revisions } = this.#options.sources;
    this.#unsubscribe = revisions.onChange((hash) => this.#revisionCame(hash));
    for (const id of instancesByNode.get(this.#options.nodeId)) this.#dirty.add(id);
    for (const id of instances.setAside.keys()) this.#dirty.add(id);
    this.#schedule();
  }

  /** Sends an instance again when its record or another part of its assignment has changed. Cheap; takes any id. */
  touch(id: string): void {
    // Before the start, a touch would cause a snapshot of a few instances only. The node ends the instances that a
    // snapshot leaves out.
    if (this.#unsubscribe === undefined || this.#isClosed) return;
    if (!this.#told.has(id) && this.#composing !== id && this.#record(id) === undefined) return;
    this.#dirty.add(id);
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#dirty.clear();
  }

  #revisionCame(hash: string): void {
    const ids = this.#waiting.get(hash);
    this.#waiting.delete(hash);
    for (const id of ids ?? []) this.touch(id);
  }

  /** The record of the instance; undefined: the instance is not placed on this node. */
  #record(id: string): InstanceRecord | undefined {
    const record = this.#options.sources.instances.get(id)?.value;
    return record?.placement?.nodeId === this.#options.nodeId ? record : undefined;
  }

  /**
   * True when the record is set aside and may belong to this node: the node then keeps the last assignment that it got.
   */
  #isLeftAlone(id: string): boolean {
    const aside = this.#options.sources.instances.setAside.get(id);
    if (aside === undefined) return false;
    const { placement } = leftOfInstance(aside.value);
    return placement === null || placement.nodeId === this.#options.nodeId;
  }

  #schedule(): void {
    if (this.#isFlushing || this.#isClosed) return;
    this.#isFlushing = true;
    this.#sendAll().catch((error: unknown) => {
      // Close the connection: this master no longer knows what the node has, and a new connection starts from a
      // snapshot.
      this.#options.logger.error({ err: error, node: this.#options.nodeId }, 'the feed of a node broke');
      this.#options.transport.close('the feed broke');
    });
  }

  /** Sends until nothing is left to send. */
  async #sendAll(): Promise<void> {
    do {
      await this.#options.pace.turn();
      await this.#flush();
    } while (this.#dirty.size > 0 && !this.#isClosed);
    this.#isFlushing = false;
  }

  async #flush(): Promise<void> {
    while (!this.#isClosed && (this.#dirty.size > 0 || !this.#hasSnapshot)) {
      const ids = this.#hasSnapshot
        ? takeSome(this.#dirty, BATCH)
        : takeSome(this.#dirty, Number.POSITIVE_INFINITY);
      const batch: Batch = { put: [], drop: [], unchanged: [], revisions: {}, secrets: {} };
      for (const id of ids) {
        this.#composing = id;
        // Read the record before the digests. If a template changes and then a restart is requested, a later read would
        // send that restart with the old digest. A record that changes meanwhile is sent again.
        const record = this.#record(id);
        const placed = record?.placement?.templates ?? [];
        const templates = placed.length === 0 ? [] : await this.#templates(placed);
        const assignment = this.#compose(record, templates);
        if (this.#isLeftAlone(id)) {
          this.#told.add(id);
          batch.unchanged.push(id);
        } else if (assignment === undefined) {
          if (this.#told.delete(id)) batch.drop.push(id);
        } else if (!this.#hasSnapshot && this.#isKnown(assignment)) {
          this.#told.add(id);
          this.#sentRevisions.add(assignment.revision);
          batch.unchanged.push(id);
        } else if (this.#include(assignment, batch.revisions) || !this.#hasSnapshot) {
          // A snapshot must name the instance even if the node has it, because the node ends the instances that a
          // snapshot leaves out.
          this.#told.add(id);
          batch.put.push(assignment);
          if (assignment.secrets !== undefined) await this.#includeSecrets(assignment.secrets, batch.secrets);
        }
      }
      if (!this.#isClosed) this.#send(batch);
    }
  }

  /** True when the node has exactly this assignment, and the content of its revision. */
  #isKnown(assignment: Assignment): boolean {
    const { held = {} } = this.#options;
    return Object.hasOwn(held, assignment.id) && held[assignment.id] === hashAssignment(assignment);
  }

  #send({ put, drop, unchanged, revisions, secrets: opened }: Batch): void {
    const { transport, held, sources } = this.#options;
    const store = sources.instances.revision;
    const secrets = Object.keys(opened).length === 0 ? {} : { secrets: opened };
    if (!this.#hasSnapshot) {
      this.#hasSnapshot = true;
      transport.send({
        type: 'snapshot',
        sequence: ++this.#sequence,
        assignments: put,
        ...((held !== undefined || unchanged.length > 0) && { unchanged }),
        revisions,
        ...secrets,
        store,
        ...(sources.line.base > 0 && { line: sources.line.base }),
      });
    } else if (put.length + drop.length > 0) {
      transport.send({ type: 'delta', sequence: ++this.#sequence, put, drop, revisions, ...secrets, store });
    }
  }

  #compose(record: InstanceRecord | undefined, templates: ResolvedTemplate[]): Assignment | undefined {
    const placement = record?.placement;
    if (record === undefined || placement === null || placement === undefined) return undefined;
    const secrets = this.#options.sources.secrets.versionsFor(record.revision);
    return {
      id: record.id,
      configurationName: record.configurationName,
      revision: record.revision,
      goal: record.desired.goal,
      restartToken: record.desired.restartToken,
      port: placement.port,
      ...(placement.ports !== undefined && { ports: placement.ports }),
      hostAddress: placement.hostAddress,
      templates,
      ...(record.job !== undefined && { environment: record.job.parameters }),
      ...(secrets !== undefined && { secrets }),
      apiKey: this.#options.sources.issueInstanceToken(record.id, record.createdAt),
    };
  }

  /** Adds the secrets of an assignment. */
  async #includeSecrets(wanted: NonNullable<Assignment['secrets']>, secrets: SentSecrets): Promise<void> {
    for (const [name, version] of Object.entries(wanted)) {
      const source = version === null ? undefined : await this.#options.sources.secrets.open(name);
      if (version !== null && source !== undefined) secrets[name] = { version, source };
    }
  }

  async #templates(placed: readonly PlacedTemplate[]): Promise<ResolvedTemplate[]> {
    const resolved: ResolvedTemplate[] = [];
    for (const { group, name, priority, storage } of placed)
      resolved.push({ group, name, priority, ...(await this.#digest(group, name, storage)) });
    return resolved;
  }

  /**
   * The digest of a template. A template that cannot be used is logged, and the node is told that it is missing and
   * why.
   */
  async #digest(
    group: string,
    name: string,
    storage: string,
  ): Promise<Pick<ResolvedTemplate, 'digest' | 'problem'>> {
    const { sources } = this.#options;
    try {
      const digest = await sources.templateDigest(group, name, storage);
      const news = digest === null ? undefined : sources.templateNews(group, name, storage);
      return { digest, ...(news !== undefined && { problem: news }) };
    } catch (error) {
      // The node is told of a template that is being written, and says so of the instances that wait for it.
      const isSaid =
        error instanceof TreeUnsteady || SAID_ELSEWHERE.some((code) => DroverError.is(error, code));
      if (!this.#isClosed && !isSaid)
        this.#options.logger.warn(
          { err: error, template: `${group}/${name}` },
          `template ${group}/${name} cannot be used: ${messageOf(error)}`,
        );
      return { digest: null, problem: problemOf(`${group}/${name}`, error) };
    }
  }

  /**
   * Adds the content of the revision if the node lacks it. Returns false when the mirror lacks the content too; the
   * instance is sent when the content comes.
   */
  #include(assignment: Assignment, revisions: Record<string, Configuration>): boolean {
    const hash = assignment.revision;
    if (this.#sentRevisions.has(hash)) return true;
    const content = this.#options.sources.revisions.get(hash)?.value;
    if (content === undefined) {
      const ids = this.#waiting.get(hash) ?? new Set();
      this.#waiting.set(hash, ids.add(assignment.id));
      return false;
    }
    this.#sentRevisions.add(hash);
    revisions[hash] = content;
    return true;
  }
}

/** True when a change of the record, such as a reported state, leaves its assignment as it was. */
export function isSameWish(before: InstanceRecord | undefined, after: InstanceRecord | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  if (before.createdAt !== after.createdAt || before.revision !== after.revision) return false;
  return isSameValue(before.desired, after.desired) && isSameValue(before.placement, after.placement);
}

/** The problem with a template, in words for the operator. Errors of Drover already name the template. */
function problemOf(template: string, error: unknown): string {
  return error instanceof DroverError
    ? error.message
    : `template ${template} cannot be used: ${publicMessage(error)}`;
}

function takeSome(set: Set<string>, most: number): string[] {
  const taken: string[] = [];
  for (const id of set) {
    if (taken.length >= most) break;
    taken.push(id);
    set.delete(id);
  }
  return taken;
}
