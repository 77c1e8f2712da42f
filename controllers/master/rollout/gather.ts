/** Gathers the members of a rollout from the records of the instances, and notes since when each is up. */

import {
  byAge,
  hasDoneItsWork,
  hasFinished,
  type InstanceRecord,
  isAtRest,
  playersOf,
} from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { Update } from '../../../src/model/update.js';
import type { ContentInForce } from '../../../src/state/contents-in-force.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { losesFiles } from '../content/instance-updates.js';
import type { Member, Role } from './facts.js';

/** The content and generation that the rollout brings to the members. */
export interface Target {
  readonly content: ContentInForce;
  /** True when the rollout has failed: then only contents are compared, not generations. */
  readonly isFailed: boolean;
  readonly update: Update;
}

/** The run of a member. `since`: when it came up (monotonic ms); null: it is not up. */
interface Run {
  /** The name of the run: another restart request, restart count or pid means another run. */
  readonly run: string;
  readonly since: number | null;
  /** True when this is not the run that the rollout first saw. */
  readonly isLater: boolean;
}

export class Members {
  readonly #options: StateRecords;
  /** The runs by configuration and instance. A new leader begins to count anew. */
  readonly #runs = new Map<string, ReadonlyMap<string, Run>>();

  constructor(options: StateRecords) {
    this.#options = options;
  }

  forget(name: string): void {
    this.#runs.delete(name);
  }

  /** Lists the members in order of age, and notes their runs. `now`: monotonic ms. */
  gather(name: string, target: Target, now: number): Member[] {
    const runs = new Map<string, Run>();
    const members = this.#gather(name, target, now, (id, run) => runs.set(id, run));
    this.#runs.set(name, runs);
    return members;
  }

  /** Lists the same members as `gather`, but notes nothing. */
  look(name: string, target: Target, now: number): Member[] {
    return this.#gather(name, target, now, () => undefined);
  }

  #gather(name: string, target: Target, now: number, note: (id: string, run: Run) => void): Member[] {
    const { instances, instancesByConfiguration } = this.#options;
    const records: InstanceRecord[] = [];
    for (const id of instancesByConfiguration.get(name)) {
      const record = instances.get(id)?.value;
      if (record !== undefined && this.#counts(record, target)) records.push(record);
    }
    records.sort(byAge);
    const ids = new Set(records.map(({ id }) => id));
    const before = this.#runs.get(name);
    return records.map((record): Member => {
      const run = runOf(record, before?.get(record.id), this.#isUp(record, target) ? now : null);
      note(record.id, run);
      return this.#member(record, { target, ids, run, now });
    });
  }

  /** True when the instance's content is the one that the rollout brings, or needs no other process. */
  isCurrent(record: InstanceRecord, { content, isFailed, update }: Target): boolean {
    const isOfGeneration = (record.generation ?? 0) >= content.generation;
    // Ignore the generation when the rollout has failed: nothing can bring an earlier generation back.
    if (!isOfGeneration && !isFailed) return false;
    // With `manual`, an instance is not outdated just because it has another content.
    return update.strategy === 'manual' || this.#options.contents.isLive(record, content);
  }

  #member(record: InstanceRecord, { target, ids, run, now }: Gathering): Member {
    const { id, status } = record;
    return {
      id,
      createdAt: record.createdAt,
      content: this.#contentOf(record, target),
      revision: record.revision,
      static: record.static,
      up: run.since === null ? null : { forMs: now - run.since },
      hasRestarted: run.isLater,
      players: playersOf(record),
      role: roleOf(record, ids),
      node: this.#nodeOf(record),
      isMarked: record.outdated === true,
      message: status.message,
      ...exitOf(record),
    };
  }

  #contentOf(record: InstanceRecord, target: Target): Member['content'] {
    if (this.isCurrent(record, target)) return 'current';
    return losesFiles(record, target.content) ? 'unsafe' : 'outdated';
  }

  #nodeOf({ placement }: InstanceRecord): Member['node'] {
    if (placement === null) return 'none';
    const node = this.#options.nodes.get(placement.nodeId)?.value;
    if (node?.condition !== 'connected') return 'away';
    return node.drain === undefined ? 'here' : 'draining';
  }

  /**
   * True when the instance is wanted, not at rest and not on a lost node. A new one that has finished counts too: its
   * exit shows whether the content is good.
   */
  #counts(record: InstanceRecord, target: Target): boolean {
    const { desired, status, job } = record;
    if (job !== undefined || desired.goal !== 'run') return false;
    if (status.reason === 'node-lost' || this.#conditionOf(record) === 'lost') return false;
    return (
      !isAtRest(record) ||
      (hasFinished(record) && record.replaces !== undefined && this.isCurrent(record, target))
    );
  }

  #isUp(record: InstanceRecord, target: Target): boolean {
    const { state, reason, awaitsReport, awaitsRestart, exitCode } = record.status;
    if (hasFinished(record)) return exitCode === 0 && hasDoneItsWork(record);
    // Until the node has taken up the restart, the record still shows the earlier run.
    const isKnown = awaitsReport === undefined && awaitsRestart === undefined;
    // Where most are not alive, they stay ONLINE: that may be the fault of the new content, never of the former one.
    if (reason === 'not-alive' && (target.isFailed || this.isCurrent(record, target))) return false;
    return state === 'ONLINE' && isKnown && this.#conditionOf(record) === 'connected';
  }

  #conditionOf({ placement }: InstanceRecord): NodeRecord['condition'] | undefined {
    return this.#options.nodes.get(placement?.nodeId ?? '')?.value.condition;
  }
}

function exitOf({ status }: InstanceRecord): Pick<Member, 'exit'> {
  const { exitCode: code, exitSignal: signal, restarts, pid } = status;
  if (code === null && signal === null) return {};
  return { exit: { code, signal, crashes: restarts + (pid === null ? 1 : 0) } };
}

interface Gathering {
  readonly target: Target;
  readonly ids: ReadonlySet<string>;
  readonly run: Run;
  readonly now: number;
}

const FIRST: Role = { is: 'first' };

function roleOf({ replaces }: InstanceRecord, ids: ReadonlySet<string>): Role {
  if (replaces === undefined) return FIRST;
  return ids.has(replaces) ? { is: 'spare', of: replaces } : { is: 'heir' };
}

/**
 * The run of a member now. The restart token is part of its name, because the master sees no pid of a
 * container.
 */
function runOf({ status, desired }: InstanceRecord, before: Run | undefined, upNow: number | null): Run {
  const run = `${desired.restartToken}/${status.restarts}/${status.pid}`;
  const isSame = before?.run === run;
  const since = upNow === null || !isSame ? upNow : (before.since ?? upNow);
  return { run, since, isLater: before !== undefined && (before.isLater || !isSame) };
}
