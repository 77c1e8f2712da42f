/**
 * One service under random rollouts: a real master and wrappers over fake processes and a virtual clock. Contents are
 * good, end at once, are never ready or fit nowhere; processes crash, nodes go and come back, players come and go, people
 * pause, promote, retry and go back, and masters take over. What must hold is judged at each change of a record.
 */
import type { InstanceRecord } from '../../../src/model/instance.js';
import { hasEnded, phaseOf, type RolloutRecord } from '../../../src/model/rollout.js';
import { type Amount, amountOf, type Update, updateSchema } from '../../../src/model/update.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Random } from '../random.js';
import type { Outcome } from '../simulate.js';

const NAME = 'lobby';
const STEP_MS = 250;
const NODES = ['alpha', 'beta', 'gamma'];
/** Players who come while a move is decided are not seen. */
const DECISION_MS = 500;
const GOOD = ['one', 'two', 'three', 'four'];
const BAD = 'bad';

/** `events`: looks at the world. `trace`: what was done, and each state that the rollout came to. */
interface RolloutOutcome extends Outcome {
  /** Those that the rollout came through. */
  readonly states: readonly string[];
}

export async function simulateRollouts(seed: string): Promise<RolloutOutcome> {
  const world = new RolloutWorld(seed);
  return world.run();
}

class RolloutWorld {
  readonly #seed: string;
  readonly #random: Random;
  readonly #clock = new FakeClock({ settleTurns: 3 });
  readonly #plane: ControlPlane;
  readonly #update: Update;
  readonly #count: number;
  readonly #maximum: number | undefined;
  readonly #violations: string[] = [];
  readonly #states = new Set<string>();
  readonly #cameAt = new Map<string, number>();
  /** Ids of the instances that were wanted before the write that is being judged. */
  #wantedBefore = new Set<string>();
  readonly #trace: string[] = [];
  #state: string | undefined;
  #made = 0;
  #looks = 0;
  #content: object = { command: 'one' };
  #away: TestNode | undefined;

  constructor(seed: string) {
    this.#seed = seed;
    this.#random = new Random(seed);
    const random = this.#random;
    const newInstanceId = (): string => `i${String(this.#made++).padStart(5, '0')}`;
    this.#plane = new ControlPlane({ clock: this.#clock, newInstanceId, isResynced: false });
    this.#count = 1 + random.below(6);
    this.#maximum = random.chance(0.3) ? this.#count + random.below(2) : undefined;
    const [maxSurge, maxUnavailable] = random.pick<readonly [Amount, Amount]>([
      [1, 0],
      [2, 0],
      [0, 1],
      [1, 1],
      ['50%', 0],
      [0, '50%'],
    ]);
    const canary = random.pick([0, 1, 2]);
    this.#update = updateSchema.parse({
      strategy: random.pick(['rolling', 'rolling', 'rolling', 'idle']),
      maxSurge,
      maxUnavailable,
      minReadySeconds: random.pick([1, 2, 5]),
      players: random.pick(['wait', 'wait', 'ignore']),
      playersSeconds: random.pick([0, 20]),
      progressSeconds: 20,
      onFailure: random.pick(['pause', 'rollback']),
      canary,
      promote: canary > 0 ? random.pick(['auto', 'manual']) : 'auto',
    });
  }

  async run(): Promise<RolloutOutcome> {
    const plane = this.#plane;
    await plane.start();
    this.#judge();
    for (const nodeId of NODES) await plane.addNode(nodeId);
    await this.#configure();
    await this.#pass(15_000);
    const operations = 4 + this.#random.below(14);
    for (let done = 0; done < operations && this.#violations.length === 0; done++) {
      await this.#operate();
      await this.#pass(this.#random.pick([250, 1000, 4000, 12_000, 30_000]));
    }
    await this.#settle();
    const stopped = plane.stop();
    await this.#clock.advance(30_000);
    await stopped;
    return {
      seed: this.#seed,
      violation: this.#violations[0],
      operations,
      nodes: NODES.length,
      instances: this.#made,
      events: this.#looks,
      virtualMs: this.#clock.monotonic(),
      trace: this.#trace,
      states: [...this.#states],
    };
  }

  #configure(): Promise<void> {
    return this.#plane.putConfiguration({
      name: NAME,
      runtime: 'process',
      command: 'one',
      ramMB: 100,
      cpu: 0,
      minimumServiceCount: this.#count,
      ...(this.#maximum !== undefined && { maximumServiceCount: this.#maximum }),
      update: this.#update,
      ...this.#content,
    });
  }

  async #operate(): Promise<void> {
    const random = this.#random;
    const writer = this.#plane.master.rolloutWriter;
    const by = 'ann';
    await random.weighted<() => unknown>([
      [
        5,
        () => {
          this.#content = random.pick<object>([
            { command: BAD },
            ...GOOD.map((command) => ({ command })),
            { command: 'slow', readiness: { logLine: 'never' } },
            { command: 'two', ramMB: 16_000_000, nodes: ['nowhere'] },
          ]);
          this.#note(`changes ${JSON.stringify(this.#content)}`);
          return this.#configure();
        },
      ],
      [4, () => this.#setPlayers()],
      [3, () => this.#crash()],
      [1, () => this.#loseNode()],
      [2, () => this.#returnNode()],
      [1, () => this.#ask('pause', writer.pause(NAME, by))],
      [2, () => this.#ask('resume', writer.resume(NAME))],
      [2, () => this.#ask('promote', writer.promote(NAME))],
      [1, () => this.#ask('retry', writer.retry(NAME, by))],
      [1, () => this.#ask('restart', writer.restart(NAME, by))],
      [1, () => this.#ask('rollback', writer.rollback(NAME, { reason: 'lag', by }))],
      [1, () => this.#takeOver()],
    ])();
  }

  #ask(what: string, answer: Promise<unknown>): Promise<void> {
    this.#note(what);
    return refusable(answer);
  }

  #note(what: string): void {
    this.#trace.push(`${(this.#clock.monotonic() / 1000).toFixed(1)} ${what}`);
  }

  async #setPlayers(): Promise<void> {
    const record = pickOf(this.#random, this.#wanted());
    if (record?.status.state !== 'ONLINE') return;
    const players = this.#random.pick([0, 0, 1, 5]);
    if (players > 0 && (record.status.players ?? 0) === 0)
      this.#cameAt.set(record.id, this.#clock.monotonic());
    this.#note(`${record.id} has ${players} players`);
    await refusable(this.#plane.master.writer.reportState(record.id, { state: 'ONLINE', players }));
  }

  #crash(): void {
    const node = pickOf(this.#random, [...this.#plane.nodes.values()]);
    const id = pickOf(this.#random, node?.runtime.alive ?? []);
    if (id !== undefined) this.#note(`${id} crashes`);
    if (id !== undefined) node?.runtime.end(id, { code: 1, signal: null });
  }

  async #loseNode(): Promise<void> {
    if (this.#away !== undefined) return;
    const node = this.#plane.nodes.get('gamma');
    if (node === undefined) return;
    this.#away = node;
    this.#note('gamma goes');
    this.#plane.nodes.delete('gamma');
    const stopped = node.wrapper.stop();
    await this.#clock.advance(100);
    await stopped;
  }

  async #returnNode(): Promise<void> {
    const node = this.#away;
    if (node === undefined) return;
    this.#away = undefined;
    this.#note('gamma is back');
    this.#plane.nodes.set('gamma', node);
    await this.#plane.replaceWrapper(node);
  }

  async #takeOver(): Promise<void> {
    this.#note('another master takes over');
    await this.#plane.replaceMaster();
    this.#judge();
  }

  /** Programs of bad contents end as they start. */
  async #pass(ms: number): Promise<void> {
    for (let done = 0; done < ms && this.#violations.length === 0; done += STEP_MS) {
      for (const { runtime } of this.#plane.nodes.values())
        for (const id of runtime.alive)
          if (runtime.specOf(id)?.command === BAD) runtime.end(id, { code: 1, signal: null });
      await this.#clock.advance(STEP_MS);
      const rollout = this.#rollout();
      this.#looks++;
      if (rollout === undefined || rollout.state === this.#state) continue;
      this.#state = rollout.state;
      this.#states.add(rollout.state);
      this.#note(`${rollout.state} ${rollout.message ?? ''}`);
    }
  }

  /** Everybody leaves, nothing breaks any more, and people answer what waits for them. */
  async #settle(): Promise<void> {
    await this.#returnNode();
    for (let round = 0; round < 30 && this.#violations.length === 0; round++) {
      const writer = this.#plane.master.rolloutWriter;
      for (const { id, status } of this.#wanted())
        if (status.state === 'ONLINE' && status.players !== 0)
          await refusable(this.#plane.master.writer.reportState(id, { state: 'ONLINE', players: 0 }));
      const state = this.#rollout()?.state;
      if (state === 'paused') await refusable(writer.resume(NAME));
      if (state === 'awaiting-promotion') await refusable(writer.promote(NAME));
      await this.#pass(20_000);
      if (this.#unsettled() === undefined) return;
    }
    const unsettled = this.#unsettled();
    if (unsettled !== undefined) this.#violations.push(`not settled: ${unsettled}`);
  }

  /** All stand, as many as were asked for, and all of what the rollout says is in force. */
  #unsettled(): string | undefined {
    const rollout = this.#rollout();
    const wanted = this.#wanted();
    const shown = wanted
      .map(
        ({ id, revision, status }) => `${id} ${revision.slice(0, 4)} ${status.state} ${status.message ?? ''}`,
      )
      .join(', ');
    const said = `${rollout?.state} ${rollout?.from?.slice(0, 4)} -> ${rollout?.to.slice(0, 4)}: ${shown}`;
    if (rollout === undefined || !hasEnded(rollout)) return said;
    if (wanted.length !== this.#count) return `${this.#count} are to stand; ${said}`;
    // Without a content that ever was good there is nothing to fall back on.
    const canStand =
      rollout.state !== 'failed' || (rollout.from !== rollout.to && rollout.reason !== 'rollback-failed');
    if (canStand && wanted.some(({ status }) => status.state !== 'ONLINE')) return said;
    return undefined;
  }

  #judge(): void {
    this.#wantedBefore = new Set(this.#wanted().map(({ id }) => id));
    this.#plane.master.state.instances.onChange((id, after, before) => {
      if (before?.value.desired.goal === 'run' && after?.value.desired.goal === 'remove')
        this.#judgeEnd(before.value);
      if (before === undefined && after !== undefined) this.#judgeCreation(after.value);
      if (after?.value.desired.goal === 'run') this.#wantedBefore.add(id);
      else this.#wantedBefore.delete(id);
    });
  }

  #judgeCreation(record: InstanceRecord): void {
    const wanted = this.#wanted();
    const ids = new Set(wanted.map(({ id }) => id));
    const { replaces = '' } = record;
    // In the place of one that was wanted until this very write it makes none more.
    const isNeutral = this.#wantedBefore.has(replaces) && !ids.has(replaces);
    const isAbove = this.#maximum !== undefined && wanted.length > this.#maximum;
    if (isAbove && !isNeutral && !this.#hasLost(wanted))
      this.#violations.push(`${record.id} is number ${wanted.length} of ${this.#maximum}`);
    // A spare on a lost node does not stand: another one may be made for the same original.
    const spares = wanted.filter(
      (one) => ids.has(one.replaces ?? '') && one.status.reason !== 'node-lost' && !this.#isOfLost(one),
    );
    const { maxSurge } = this.#update;
    // One is made for new players where all that stand have some.
    const most = Math.max(amountOf(maxSurge, this.#count, 'up'), maxSurge === 0 ? 0 : 1);
    if (
      record.replaces !== undefined &&
      ids.has(record.replaces) &&
      !this.#isOfLost(record) &&
      spares.length > most
    )
      this.#violations.push(`${record.id} is one too many: ${spares.length} stand beside what they replace`);
  }

  /** Nobody with players ends before the deadline, and no more are missing than may be. */
  #judgeEnd(record: InstanceRecord): void {
    const rollout = this.#rollout();
    const { players, playersSeconds, maxUnavailable, maxSurge } = this.#update;
    const wanted = this.#wanted();
    const isSurplus = this.#maximum !== undefined && wanted.length >= this.#maximum;
    const isOver =
      players === 'ignore' ||
      (playersSeconds > 0 &&
        rollout !== undefined &&
        this.#clock.now() >= rollout.since + playersSeconds * 1000);
    const cameAgoMs = this.#clock.monotonic() - (this.#cameAt.get(record.id) ?? 0);
    const hasGuests = (record.status.players ?? 0) > 0 && record.status.state === 'ONLINE';
    if (hasGuests && !isOver && !isSurplus && cameAgoMs > DECISION_MS)
      this.#violations.push(`${record.id} ends with ${record.status.players} players`);
    if (!isReady(record) || rollout === undefined || this.#hasLost(wanted)) return;
    // The one that stands beside what it replaces holds no place.
    if (wanted.some(({ id }) => id === record.replaces)) return;
    const missing = this.#missing(wanted);
    const share = amountOf(maxUnavailable, this.#count, 'up');
    const isFirst =
      maxSurge === 0 || isSurplus || (this.#maximum ?? Number.POSITIVE_INFINITY) <= this.#count + 1;
    const most = isFirst ? Math.max(1, share) : share;
    const isHeir = wanted.some((one) => one.replaces === record.id && isReady(one));
    if (!isHeir && missing > most)
      this.#violations.push(
        `${record.id} ends, and ${missing} of ${this.#count} are missing, not ${most} (${phaseOf(rollout)})`,
      );
  }

  /** Places in the service without an instance that is ready. */
  #missing(wanted: readonly InstanceRecord[]): number {
    const ids = new Set(wanted.map(({ id }) => id));
    return wanted.filter((one) => {
      if (ids.has(one.replaces ?? '')) return false;
      const spare = wanted.find(({ replaces }) => replaces === one.id);
      return !isReady(one) && (spare === undefined || !isReady(spare));
    }).length;
  }

  #wanted(): InstanceRecord[] {
    return this.#plane.records().filter(({ desired }) => desired.goal === 'run');
  }

  /** The enforcer stands in for what is lost, and what comes back is surplus for a while. */
  #hasLost(wanted: readonly InstanceRecord[]): boolean {
    return (
      this.#away !== undefined ||
      wanted.some(({ status }) => status.awaitsReport === true || status.reason === 'node-lost')
    );
  }

  #isOfLost({ replaces }: InstanceRecord): boolean {
    const original = this.#plane.master.state.instances.get(replaces ?? '')?.value;
    return original?.placement?.nodeId === 'gamma';
  }

  #rollout(): RolloutRecord | undefined {
    return this.#plane.master.state.rollouts.get(NAME)?.value;
  }
}

function isReady({ status }: InstanceRecord): boolean {
  return status.state === 'ONLINE' && status.awaitsReport === undefined;
}

function pickOf<T>(random: Random, values: readonly T[]): T | undefined {
  return values[random.below(values.length)];
}

/** It may be refused in the state in which the rollout is. */
async function refusable(answer: Promise<unknown>): Promise<void> {
  await answer.catch((error: unknown) => {
    if (!(error instanceof Error) || !('code' in error)) throw error;
  });
}
