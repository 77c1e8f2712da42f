/** The schedule controller: acts on the due times of a configuration's schedules. Key: configuration name. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/loop/clock.js';
import { eachBounded } from '../../../src/loop/each-bounded.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { hasPlayers, type InstanceRecord, isAtRest } from '../../../src/model/instance.js';
import { durationText } from '../../../src/model/plain/duration-text.js';
import { EMPTY_TIMETABLE, type Entry, entryOf, type PastDue } from '../../../src/model/schedule.js';
import { countText } from '../../../src/model/words.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { RolloutWriter } from '../../../src/state/rollout-writes.js';
import { modifyOrCreate, removeRecord } from '../../../src/store/modify.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { InstanceCreations } from '../creation/instance-creations.js';
import { plan, type ScheduleFacts, type ScheduleStep, settled } from './plan.js';

/** A due time that is acted on later than this is said to be late. */
const LATE_MS = 60_000;
const AT_ONCE = 50;

export interface SchedulesOptions extends StateRecords {
  readonly creations: Pick<InstanceCreations, 'create'>;
  readonly writer: Pick<InstanceWriter, 'setLifecycle'>;
  readonly rolloutWriter: Pick<RolloutWriter, 'restart'>;
  /** Writes a line to the standard input of an instance. Throws when its node does not take it. */
  readonly sendLine: (record: InstanceRecord, line: string) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Act = Pick<ScheduleStep & { do: 'act' }, 'schedule' | 'entry'>;
type Deed = readonly [outcome: PastDue['outcome'], message?: string];

export class Schedules implements Reconciler<ScheduleFacts, ScheduleStep> {
  readonly name = 'schedule';
  readonly plan = plan;
  readonly #options: SchedulesOptions;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  observe(name: string): ScheduleFacts | undefined {
    const { configurations, timetables, rollouts, clock } = this.#options;
    const configuration = configurations.get(name)?.value.configuration;
    const timetable = timetables.get(name)?.value;
    // A timetable that cannot be read is kept as it is, and that of an unreadable configuration: `cluster status`
    // names both.
    if (timetables.setAside.has(name) || configurations.setAside.has(name)) return undefined;
    if (timetable === undefined && configuration?.schedules === undefined) return undefined;
    return {
      now: clock.now(),
      schedules: configuration && (configuration.schedules ?? []),
      timetable: timetable ?? EMPTY_TIMETABLE,
      used: this.#instancesOf(name).filter(isUsed).length,
      generation: rollouts.get(name)?.value.generation ?? 0,
    };
  }

  async perform(step: ScheduleStep, _signal: AbortSignal, name: string): Promise<void> {
    const { timetableRecords } = this.#options;
    switch (step.do) {
      case 'forget':
        return removeRecord(timetableRecords, name);
      case 'write':
        return this.#write(name, step.name, (now) => {
          if (!isDeepStrictEqual(now, step.before))
            throw new Conflict(`schedule ${step.name} changed meanwhile`);
          return step.entry;
        });
      case 'warn':
        await this.#send(name, step.line);
        return;
      case 'thaw':
        // A person may have frozen it anew meanwhile.
        await modifyOrCreate(timetableRecords, name, (now) =>
          now?.frozen?.at === step.freeze.at ? { ...now, frozen: undefined } : undefined,
        );
        return;
      case 'act':
        return this.#finish(name, step, await this.#act(name, step).catch(refusal));
      default:
        step satisfies never;
    }
  }

  /** Acts on a due time. All but a command may be repeated for the same due time. */
  async #act(name: string, { schedule, entry }: Act): Promise<Deed> {
    switch (schedule.do) {
      case 'restart':
        await this.#options.rolloutWriter.restart(name, `schedule ${schedule.name}`, {
          players: schedule.when === 'empty' ? 'wait' : 'ignore',
          after: entry.handedOver?.mark,
        });
        return ['done'];
      case 'stop':
        return this.#each(name, 'stop', 'run');
      case 'start':
        return this.#each(name, 'start', 'stop');
      case 'command':
        return this.#send(name, schedule.command);
      case 'run':
        return this.#run(name, `schedule ${schedule.name} ${entry.handedOver?.due}`);
      default:
        return schedule.do satisfies never;
    }
  }

  async #each(name: string, target: 'start' | 'stop', goal: 'run' | 'stop'): Promise<Deed> {
    const meant = this.#instancesOf(name).filter(({ desired }) => desired.goal === goal);
    await eachBounded(meant, AT_ONCE, undefined, ({ id }) => this.#options.writer.setLifecycle(id, target));
    return ['done', countText(meant.length, 'instance')];
  }

  /** Starts a run. The key names the due time, so that a successor that repeats this gets the same run. */
  async #run(name: string, key: string): Promise<Deed> {
    const other = this.#instancesOf(name).find((one) => isUsed(one) && one.job?.key !== key);
    if (other !== undefined) return ['failed', `the run ${other.id} goes on`];
    return ['done', `run ${(await this.#options.creations.create(name, { parameters: {}, key })).id}`];
  }

  async #send(name: string, line = ''): Promise<Deed> {
    const running = this.#instancesOf(name).filter(({ status }) => status.pid !== null);
    const faults: string[] = [];
    await eachBounded(running, AT_ONCE, undefined, (record) =>
      this.#options
        .sendLine(record, line)
        .catch((error) => void faults.push(`${record.id}: ${messageOf(error)}`)),
    );
    const sent = `sent to ${running.length - faults.length} of ${countText(running.length, 'instance')}`;
    return faults.length === 0 ? ['done', sent] : ['failed', `${sent}; ${faults[0]}`];
  }

  async #finish(name: string, { schedule, entry }: Act, [outcome, message]: Deed): Promise<void> {
    const { due, at: begun, by } = entry.handedOver ?? { due: 0, at: 0, by: null };
    const late = begun - due > LATE_MS ? `${durationText(begun - due)} late` : undefined;
    const said = [late, message].filter((part) => part !== undefined).join(', ');
    const last = { due, at: this.#options.clock.now(), outcome, message: said || null, by };
    // A person may have paused the schedule while it was acted on: keep that.
    await this.#write(name, schedule.name, (now) => now && settled(now, last));
  }

  async #write(name: string, schedule: string, change: (now?: Entry) => Entry | undefined): Promise<void> {
    let before: Entry | undefined;
    const written = await modifyOrCreate(
      this.#options.timetableRecords,
      name,
      (timetable = EMPTY_TIMETABLE) => {
        before = entryOf(timetable, schedule);
        const entry = change(before);
        const { [schedule]: _former, ...others } = timetable.entries;
        return { ...timetable, entries: entry === undefined ? others : { ...others, [schedule]: entry } };
      },
    );
    const last = written && entryOf(written, schedule)?.last;
    if (last == null || last === before?.last) return;
    const { outcome, message, due } = last;
    const level = outcome === 'done' || outcome === 'skipped' ? 'info' : 'warn';
    const line = `schedule ${schedule} of ${name}: ${outcome}${message === null ? '' : `, ${message}`}`;
    this.#options.logger[level]({ configuration: name, schedule, due }, line);
  }

  #instancesOf(name: string): InstanceRecord[] {
    const { instances, instancesByConfiguration } = this.#options;
    return [...instancesByConfiguration.get(name)].flatMap((id) => {
      const record = instances.get(id)?.value;
      return record === undefined || record.desired.goal === 'remove' ? [] : [record];
    });
  }
}

function isUsed(record: InstanceRecord): boolean {
  return record.job === undefined ? hasPlayers(record) : !isAtRest(record);
}

/** A refusal is the outcome of a due time; any other error is tried again. */
function refusal(error: unknown): Deed {
  const codes = [
    'DRV_ROLLOUT_STATE',
    'DRV_CONFIGURATION_FROZEN',
    'DRV_RECORD_UNREADABLE',
    'DRV_REQUEST_INVALID',
  ] as const;
  if (!codes.some((code) => DroverError.is(error, code))) throw error;
  return ['failed', messageOf(error)];
}
