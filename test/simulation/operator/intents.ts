/**
 * The requests of clients that are not answered yet. A change of the desired state needs a request for it, and an
 * answer needs the change. So no acknowledged write is lost, and none is made up.
 */
import { awaitsFirstStart, type InstanceRecord } from '../../../src/model/instance.js';

export type Wish =
  | 'start'
  | 'stop'
  | 'restart'
  | 'update'
  | 'update-when-empty'
  | 'delete'
  | 'report-stopped';

export interface Intent {
  readonly id: string;
  readonly wish: Wish;
  /** Its record when it was asked. */
  readonly before: InstanceRecord | undefined;
  /** Somebody asked for something else of the same instance before this was answered. */
  isContested: boolean;
  /** Its master died or leads no more. A master that stands still may answer a client much later. */
  isPast: boolean;
}

/** What is so beside the two records. */
interface Circumstances {
  /** More are wanted than the maximum allows, now or a moment ago. */
  readonly isSurplus: boolean;
  /** A controller may remove it although nobody asked for that. */
  readonly mayGo: boolean;
  /** Its node has not been connected for a while, as far as the master knows. */
  readonly isAway: boolean;
}

const BEGINS: readonly Wish[] = ['start', 'restart'];

export class Intents {
  readonly #open = new Map<string, Set<Intent>>();

  open(id: string, wish: Wish, before: InstanceRecord | undefined): Intent {
    const others = this.#open.get(id) ?? new Set();
    const isContested = [...others].some(({ isPast }) => !isPast);
    for (const other of others) other.isContested = true;
    const intent = { id, wish, before, isContested, isPast: false };
    this.#open.set(id, others.add(intent));
    return intent;
  }

  close(intent: Intent): void {
    this.#open.get(intent.id)?.delete(intent);
  }

  /** The master died or leads no more: what it has not made durable by now will never be. */
  closeAll(): void {
    for (const intents of this.#open.values()) for (const intent of intents) intent.isPast = true;
  }

  isOpen(id: string, ...wishes: readonly Wish[]): boolean {
    for (const { wish, isPast } of this.#open.get(id) ?? [])
      if (!isPast && wishes.includes(wish)) return true;
    return false;
  }

  /** Why the change of what is desired is nobody's wish, or undefined. */
  objectionTo(
    before: InstanceRecord,
    after: InstanceRecord,
    { isSurplus, mayGo, isAway }: Circumstances,
  ): string | undefined {
    const [from, to] = [before.desired, after.desired];
    const { id } = after;
    const isBegun = this.isOpen(id, ...BEGINS);
    if (from.goal === 'remove' && to.goal !== 'remove') return `${id} was deleted and is wanted again`;
    if (to.restartToken < from.restartToken) return `${id} lost a request to restart`;
    const isUpdated = before.revision !== after.revision && this.#mayUpdate(before);
    if (to.restartToken > from.restartToken && !isBegun && !isUpdated)
      return `${id} restarts although nobody asked for it`;
    const isOnlyStarted = this.isOpen(id, 'start') && !this.isOpen(id, 'restart');
    if (to.restartToken > from.restartToken && !isUpdated && isOnlyStarted && from.goal === 'run' && isAway)
      return `${id} is to be restarted although it is wanted and its node is away`;
    if (to.goal === from.goal) return undefined;
    if (to.goal === 'run' && !isBegun)
      return `${id} was stopped and is wanted again although nobody asked for it`;
    if (to.goal === 'remove' && !mayGo && !(isSurplus && !before.static) && !this.isOpen(id, 'delete'))
      return `${id} is removed although nobody asked for it`;
    // Whether it is time for that is judged by `JobRuns`.
    if (to.goal === 'stop' && to.stoppedBy === 'timeout') return undefined;
    if (to.goal === 'stop' && !(isSurplus && before.static) && !this.isOpen(id, 'stop', 'report-stopped'))
      return `${id} is stopped although nobody asked for it`;
    return undefined;
  }

  /** Somebody asked for its update, or nothing is lost by one. */
  #mayUpdate(before: InstanceRecord): boolean {
    if (this.isOpen(before.id, 'update') || awaitsFirstStart(before)) return true;
    return before.desired.updateWhenEmpty === true && (before.status.players ?? 0) === 0;
  }

  /** Why the answer to an intent is not true, or undefined. */
  lieOf({ id, wish, before, isContested }: Intent, now: InstanceRecord | undefined): string | undefined {
    if (wish === 'delete')
      return now === undefined || now.desired.goal === 'remove' ? undefined : `${id} is not deleted`;
    if (isContested || now === undefined || now.desired.goal === 'remove') return undefined;
    switch (wish) {
      case 'stop':
      case 'report-stopped':
        return now.desired.goal === 'stop' ? undefined : `${id} is not to be stopped`;
      case 'restart':
        return now.desired.restartToken > (before?.desired.restartToken ?? -1)
          ? undefined
          : `${id} is not restarted`;
      case 'update':
      case 'update-when-empty':
        // It may have had the content, or may not fit with it.
        return undefined;
      case 'start':
        // Above a maximum it may be stopped again in the same breath.
        return undefined;
      default:
        return wish satisfies never;
    }
  }
}
