/**
 * Writes what people and clients ask of rollouts: pause, resume, promote, retry, restart and rollback. Each write
 * resolves with the new record when it is durable and the mirror shows it. The rollout controller carries it out.
 * Every method throws DRV_CONFIGURATION_UNKNOWN, and DRV_ROLLOUT_STATE when the rollout's state does not allow the
 * request. What begins a rollout throws DRV_CONFIGURATION_FROZEN, too. `by` names the caller: the label of a key, or
 * the console.
 */
import type { Clock } from '../loop/clock.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import { DroverError, revisionUnknown } from '../model/errors.js';
import { isHeldBack, NO_COUNTS, phaseOf, type RolloutRecord } from '../model/rollout.js';
import { refuseFrozen } from '../model/schedule.js';
import { unknownConfiguration, unknownRollout } from '../model/unknown.js';
import { NO_UPDATE, type Update } from '../model/update.js';
import { modifyOrCreate, refuseSetAside } from '../store/modify.js';
import type { StateRecords } from './master-state.js';

interface RolloutWriterOptions
  extends Pick<StateRecords, 'configurations' | 'revisions' | 'rolloutRecords' | 'timetables'> {
  readonly clock: Clock;
}

interface Rollback {
  /** The revision to go back to; absent: the last good one. */
  readonly to?: string;
  /** The reason, in the words of the person who asks. */
  readonly reason: string;
  readonly by: string;
}

/** How a schedule restarts: not again past the generation `after`, and with players as it says, whatever `update` says. */
interface Restart {
  readonly after?: number | undefined;
  readonly players?: RolloutRecord['players'];
}

/** The record after a request; undefined: the request changes nothing. Throws DRV_ROLLOUT_STATE. */
type Change = (rollout: RolloutRecord, now: number) => RolloutRecord | undefined;

export class RolloutWriter {
  readonly #options: RolloutWriterOptions;

  constructor(options: RolloutWriterOptions) {
    this.#options = options;
  }

  /** Pauses the rollout: the controller makes and ends nothing more for it. Repeatable. Throws DRV_ROLLOUT_UNKNOWN. */
  pause(name: string, by: string): Promise<RolloutRecord> {
    return this.#change(name, (rollout, at) => {
      const { state } = rollout;
      if (state === 'paused') return undefined;
      if (state !== 'rolling' && state !== 'awaiting-promotion' && state !== 'rolling-back')
        throw refused(rollout, 'there is nothing to pause');
      return { ...rollout, state: 'paused', paused: { by, at, was: state }, progressAt: null };
    });
  }

  /** Resumes a paused rollout. A rollout that is under way stays as it is. Throws DRV_ROLLOUT_UNKNOWN. */
  resume(name: string): Promise<RolloutRecord> {
    return this.#change(name, (rollout) => {
      if (rollout.state === 'paused')
        return { ...rollout, state: phaseOf(rollout), paused: null, progressAt: null };
      if (rollout.endedAt !== null) throw refused(rollout, 'it is not paused');
      return undefined;
    });
  }

  /** Lets all other instances follow the canaries. Repeatable. Throws DRV_ROLLOUT_UNKNOWN. */
  promote(name: string): Promise<RolloutRecord> {
    return this.#change(name, (rollout) => {
      const { state, isPromoted } = rollout;
      if (state === 'rolling' && isPromoted) return undefined;
      if (state === 'rolling') throw refused(rollout, 'its canaries are not good yet');
      if (state !== 'awaiting-promotion') throw refused(rollout, 'no canaries wait for it');
      return { ...rollout, state: 'rolling', isPromoted: true, progressAt: null };
    });
  }

  /** Tries a content again that failed or is held back. Throws DRV_ROLLOUT_UNKNOWN. */
  retry(name: string, by: string): Promise<RolloutRecord> {
    const { strategy, canary } = this.#updateOf(name);
    return this.#change(name, (rollout, now) => {
      const isFailed = rollout.state === 'failed' || phaseOf(rollout) === 'rolling-back';
      if (!isFailed && !isHeldBack(rollout)) throw refused(rollout, 'no content is held back');
      const again = { ...rollout, ...begun(now, by), cause: 'retry', isPromoted: canary === 0 } as const;
      // With the strategy `manual` the rollout is complete at once, because only new instances get the content.
      const isManual = strategy === 'manual' && isHeldBack(rollout);
      return isManual ? { ...again, state: 'complete', endedAt: now } : { ...again, state: 'rolling' };
    });
  }

  /** Replaces all instances step by step with new ones of the content in force. */
  async restart(name: string, by: string, { after, players }: Restart = {}): Promise<RolloutRecord> {
    const { hash, configuration } = this.#configuration(name);
    if (configuration.job !== undefined)
      throw new DroverError('DRV_ROLLOUT_STATE', `${name} is a job: its runs are not restarted`);
    const first: RolloutRecord = {
      ...begun(this.#options.clock.now(), by),
      name,
      from: null,
      to: hash,
      generation: 1,
      state: 'rolling',
      cause: 'restart',
      isPromoted: true,
      templates: {},
      players,
    };
    return this.#createOr(name, (rollout, now) => {
      if (rollout === undefined) return first;
      if (after !== undefined && rollout.generation > after) return undefined;
      if (rollout.state === 'paused') throw refused(rollout, 'resume it first');
      const { from, to, generation, reason, message } = rollout;
      const again = {
        ...rollout,
        ...begun(now, by),
        generation: generation + 1,
        cause: 'restart',
        players,
      } as const;
      // A content that is held back stays held back: the instances are made anew from the last good content.
      if (isHeldBack(rollout)) return { ...again, reason, message, state: 'rolling-back' };
      const isUnderWay = rollout.state === 'rolling' || rollout.state === 'awaiting-promotion';
      return { ...again, from: isUnderWay ? from : to, state: 'rolling', isPromoted: true };
    });
  }

  /**
   * Holds the content of the file back, and brings the instances to another content. With the strategy `manual`, only
   * new instances get that content. Throws DRV_REVISION_UNKNOWN.
   */
  async rollback(name: string, rollback: Rollback): Promise<RolloutRecord> {
    const { hash } = this.#configuration(name);
    const { strategy } = this.#updateOf(name);
    const isManual = strategy === 'manual';
    const known = this.#options.rolloutRecords.mirror.get(name)?.value;
    const from = rollback.to ?? known?.from ?? undefined;
    if (from === undefined || this.#options.revisions.get(from) === undefined)
      throw unknownRevision(name, from);
    if (from === hash)
      throw new DroverError(
        'DRV_ROLLOUT_STATE',
        `${from} is what the file of ${name} says: "rollout retry" brings it into force where it is held back`,
      );
    const change = (before: Pick<RolloutRecord, 'generation' | 'templates'>, now: number): RolloutRecord => ({
      ...before,
      ...begun(now, rollback.by),
      name,
      from,
      to: hash,
      state: isManual ? 'rolled-back' : 'rolling-back',
      endedAt: isManual ? now : null,
      cause: 'rollback',
      reason: 'rollback',
      message: rollback.reason,
      isPromoted: true,
    });
    return this.#createOr(name, (rollout, now) => {
      const { generation, templates } = rollout ?? { generation: 0, templates: {} };
      return change({ generation, templates }, now);
    });
  }

  /** The configuration of a rollout that is to begin. */
  #configuration(name: string): ConfigurationRecord {
    refuseFrozen(name, this.#options.timetables.get(name)?.value);
    const record = this.#options.configurations.get(name)?.value;
    if (record === undefined) throw unknownConfiguration(name);
    return record;
  }

  #updateOf(name: string): Update {
    return this.#configuration(name).configuration.update ?? NO_UPDATE;
  }

  #change(name: string, change: Change): Promise<RolloutRecord> {
    return this.#createOr(name, (rollout, now) => rollout && change(rollout, now));
  }

  /** Throws DRV_ROLLOUT_UNKNOWN when `change` makes no record, and there is none. */
  async #createOr(
    name: string,
    change: (rollout: RolloutRecord | undefined, now: number) => RolloutRecord | undefined,
  ): Promise<RolloutRecord> {
    const { rolloutRecords: set, configurations, clock } = this.#options;
    if (configurations.get(name) === undefined) throw unknownConfiguration(name);
    refuseSetAside(set, name);
    const written = await modifyOrCreate(set, name, (rollout) => change(rollout, clock.now()));
    const rollout = written ?? set.mirror.get(name)?.value;
    if (rollout === undefined) throw unknownRollout(name);
    return rollout;
  }
}

/** The fields of a rollout that begins now. */
function begun(
  now: number,
  by: string,
): Pick<
  RolloutRecord,
  | 'by'
  | 'since'
  | 'endedAt'
  | 'progressAt'
  | 'paused'
  | 'counts'
  | 'reason'
  | 'message'
  | 'failure'
  | 'players'
> {
  return {
    by,
    since: now,
    endedAt: null,
    progressAt: null,
    paused: null,
    counts: NO_COUNTS,
    reason: null,
    message: null,
    failure: undefined,
    players: undefined,
  };
}

function refused({ name, state }: RolloutRecord, why: string): DroverError {
  return new DroverError('DRV_ROLLOUT_STATE', `the rollout of ${name} is ${state}: ${why}`);
}

function unknownRevision(name: string, revision: string | undefined): DroverError {
  return revisionUnknown(
    revision === undefined
      ? `no earlier content of ${name} is known: name a revision`
      : `there is no revision ${revision} of ${name} any more`,
  );
}
