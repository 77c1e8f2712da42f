/** The rollout controller: brings the instances of a configuration to another content, step by step. Key: its name. */

import type { Clock } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { ConfigurationContent } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { hasEnded, phaseOf, type RolloutRecord } from '../../../src/model/rollout.js';
import { NO_UPDATE, type Update } from '../../../src/model/update.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { modify } from '../../../src/store/modify.js';
import { create, type Operation } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { InstanceUpdates } from '../content/instance-updates.js';
import type { Mover } from '../replacement/mover.js';
import type { Victims } from '../replacement/victims.js';
import { Ages } from './ages.js';
import type { GoneFacts, Member, RolloutFacts } from './facts.js';
import { type Foretold, foretell } from './foretell.js';
import { Members, type MembersOptions, type Target } from './gather.js';
import { hasGuests, isCurrent } from './members.js';
import type { RolloutMove } from './moves.js';
import { isMoving, plan, type RolloutStep } from './plan.js';
import { sentenceOf } from './words.js';

interface RolloutsOptions extends StateRecords, MembersOptions {
  readonly victims: Pick<Victims, 'lookAround'>;
  readonly mover: Mover;
  readonly updates: Pick<InstanceUpdates, 'update'>;
  readonly writer: Pick<InstanceWriter, 'markOutdated'>;
  readonly templateDigest: (group: string, name: string, storage: string) => Promise<string | null>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Rollouts implements Reconciler<RolloutFacts | GoneFacts, RolloutStep> {
  readonly name = 'rollout';
  readonly plan = plan;
  readonly #options: RolloutsOptions;
  readonly #members: Members;
  readonly #ages: Ages;

  constructor(options: RolloutsOptions) {
    this.#options = options;
    this.#members = new Members(options);
    this.#ages = new Ages(options.clock);
  }

  /** Undefined: nothing of the configuration is rolled out. */
  observe(name: string): RolloutFacts | GoneFacts | undefined | Promise<RolloutFacts | undefined> {
    const record = this.#options.configurations.get(name)?.value;
    const rollout = this.#rolloutOf(name);
    if (record === undefined) return this.#observeGone(name);
    const update = updateOf(record);
    if (rollout === undefined && update.strategy === 'manual') return undefined;
    return update.templates ? this.#withTemplates(record, rollout) : this.#round(record, rollout);
  }

  /** The facts of a round. Notes the runs that it finds, when the rollout began, and when it last got on. */
  #round(
    record: ConfigurationContent,
    rollout: RolloutRecord | undefined,
    templates: RolloutFacts['templates'] = {},
  ): RolloutFacts {
    const { name } = record.configuration;
    if (rollout !== undefined) this.#ages.note(name, 'begin', rollout.since);
    if (rollout?.progressAt != null) this.#ages.note(name, 'progress', rollout.progressAt);
    return { ...this.#factsOf(record, rollout, 'gather'), templates };
  }

  #factsOf(
    record: ConfigurationContent,
    rollout: RolloutRecord | undefined,
    how: 'gather' | 'look',
  ): RolloutFacts {
    const { contents, victims, clock } = this.#options;
    const { hash } = record;
    const { name } = record.configuration;
    const update = updateOf(record);
    const target = this.#targetOf(record, rollout);
    const isAsleep = rollout !== undefined && hasEnded(rollout) && rollout.state !== 'failed';
    const members = isAsleep && !update.templates ? [] : this.#members[how](name, target, clock.monotonic());
    return {
      kind: 'rollout',
      name,
      now: clock.now(),
      hash,
      update,
      rollout,
      isNews: rollout !== undefined && contents.isNews(record, rollout),
      members,
      outlook: victims.lookAround(name, target.content),
      agedMs: rollout === undefined ? 0 : this.#ages.since(name, 'begin', rollout.since),
      stalledMs: rollout?.progressAt == null ? 0 : this.#ages.since(name, 'progress', rollout.progressAt),
      templates: {},
    };
  }

  /** The victims of a rollout if this were the record in force. Remembers nothing. */
  foretell(record: ConfigurationContent, isAtMaximum: boolean): Foretold {
    const { contents, clock } = this.#options;
    const { name } = record.configuration;
    const update = updateOf(record);
    const stored = this.#rolloutOf(name);
    const look = (rollout: RolloutRecord | undefined): Member[] => {
      const content =
        rollout === undefined ? { ...record, generation: 0 } : contents.targetUnder(record, rollout);
      const isFailed = rollout !== undefined && phaseOf(rollout) === 'failed';
      return this.#members.look(name, { content, isFailed, update }, clock.monotonic());
    };
    const facts: RolloutFacts = {
      kind: 'rollout',
      name,
      now: clock.now(),
      hash: record.hash,
      update,
      rollout: stored,
      isNews: stored !== undefined && contents.isNews(record, stored),
      members: look(stored),
      outlook: { obstacle: null, recheckInMs: null, isDelayed: false, isAtMaximum },
      agedMs: stored === undefined ? 0 : this.#ages.since(name, 'begin', stored.since),
      stalledMs: 0,
      // Changed templates are no part of a plan.
      templates: {},
    };
    return foretell(facts, look);
  }

  /** True while a rollout replaces the instance: its pairs are the rollout's. */
  isMoving(record: InstanceRecord): boolean {
    const configuration = this.#options.configurations.get(record.configurationName)?.value;
    const rollout = this.#rolloutOf(record.configurationName);
    if (configuration === undefined || rollout === undefined || hasEnded(rollout)) return false;
    return isMoving(rollout, this.#members.isCurrent(record, this.#targetOf(configuration, rollout)));
  }

  async perform(step: RolloutStep): Promise<void> {
    switch (step.do) {
      case 'write':
        return this.#write(step.before, step.rollout);
      case 'forget':
        return this.#forget(step.name);
      case 'mark':
        return this.#options.writer.markOutdated(step.id, step.isOutdated);
      case 'update':
        return this.#update(step.id);
      case 'create':
      case 'replace':
      case 'remove':
        return this.#move(step);
      default:
        return step satisfies never;
    }
  }

  #observeGone(name: string): GoneFacts | undefined {
    this.#members.forget(name);
    this.#ages.forget(name);
    return this.#rolloutOf(name) === undefined ? undefined : { kind: 'gone', name };
  }

  async #withTemplates(
    record: ConfigurationContent,
    rollout: RolloutRecord | undefined,
  ): Promise<RolloutFacts> {
    const { instances, instancesByConfiguration, templateDigest } = this.#options;
    const digests = new Map<string, string>();
    for (const id of instancesByConfiguration.get(record.configuration.name))
      for (const { storage, group, name } of instances.get(id)?.value.placement?.templates ?? []) {
        const key = `${storage}/${group}/${name}`;
        if (digests.has(key)) continue;
        const digest = await templateDigest(group, name, storage);
        // One that cannot be had now is no other content.
        if (digest !== null) digests.set(key, digest);
      }
    return this.#round(
      record,
      rollout ?? this.#rolloutOf(record.configuration.name),
      Object.fromEntries(digests),
    );
  }

  #targetOf(record: ConfigurationContent, rollout: RolloutRecord | undefined): Target {
    const { name } = record.configuration;
    const content = this.#options.contents.targetOf(name) ?? { ...record, generation: 0 };
    const isFailed = rollout !== undefined && phaseOf(rollout) === 'failed';
    return { content, isFailed, update: updateOf(record) };
  }

  async #write(before: RolloutRecord | undefined, rollout: RolloutRecord): Promise<void> {
    const { rolloutRecords: set, store, logger } = this.#options;
    if (before === undefined) {
      await set.mirror.until(await create(store, set.keyOf(rollout.name), rollout).catch(asConflict));
    } else {
      const written = await modify(set, rollout.name, (current) =>
        current === before ? rollout : undefined,
      );
      if (written === undefined) throw new Conflict(`the rollout of ${rollout.name} changed meanwhile`);
    }
    const isAsBefore = before?.state === rollout.state && before.since === rollout.since;
    // Its first content: nothing was rolled out.
    if (isAsBefore || (before === undefined && rollout.state === 'complete')) return;
    const level = rollout.state === 'failed' || rollout.reason !== null ? 'warn' : 'info';
    logger[level]({ configuration: rollout.name, state: rollout.state }, sentenceOf(rollout));
  }

  async #forget(name: string): Promise<void> {
    const { rolloutRecords: set, store } = this.#options;
    const known = set.mirror.get(name);
    if (known === undefined) return;
    const removal: Operation = { do: 'remove', key: set.keyOf(name), expectedRevision: known.revision };
    await set.mirror.until(await store.transact([removal]));
  }

  async #update(id: string): Promise<void> {
    const { updates, contents, instances, logger } = this.#options;
    const name = instances.get(id)?.value.configurationName ?? '';
    const content = contents.targetOf(name);
    if (content === undefined) throw new Conflict(`the rollout of ${name} is gone`);
    // A rollback, or a changed file, may have come meanwhile.
    const isStill = (): boolean => {
      const now = contents.targetOf(name);
      return now?.hash === content.hash && now.generation === content.generation;
    };
    const isDue = (record: InstanceRecord): boolean => isStill() && this.#isDue(record);
    const outcome = await updates.update(id, { content, isDue });
    if (outcome === 'not-due') throw new Conflict(`instance ${id} changed meanwhile`);
    logger.info(
      { instance: id, configuration: name },
      `rolling out ${name}: ${id} takes the content in place`,
    );
  }

  async #move(step: Exclude<RolloutMove, { do: 'update' }>): Promise<void> {
    const { instances, mover } = this.#options;
    const name = instances.get(step.id)?.value.configurationName ?? '';
    await mover.perform(step, `rolling out ${name}`, () => this.#checkMove(name, step));
  }

  /** Asked in the turn in which the move is written: players may have come, or somebody has paused the rollout. */
  #checkMove(name: string, step: Exclude<RolloutMove, { do: 'update' }>): Operation[] {
    const { instances, rolloutRecords: set } = this.#options;
    const rollout = set.mirror.get(name);
    const record = instances.get(step.id)?.value;
    if (rollout === undefined || record === undefined || !this.#isDue(record, step.do === 'create'))
      throw new Conflict(`the rollout of ${name}, or ${step.id}, changed meanwhile`);
    // A creation checks the rollout by itself.
    if (step.do !== 'remove') return [];
    return [{ do: 'check', key: set.keyOf(name), expectedRevision: rollout.revision }];
  }

  #isDue(record: InstanceRecord, isKept = false): boolean {
    const name = record.configurationName;
    const configuration = this.#options.configurations.get(name)?.value;
    const rollout = this.#rolloutOf(name);
    if (configuration === undefined || rollout === undefined || rollout.state === 'paused') return false;
    const facts = this.#factsOf(configuration, rollout, 'look');
    const member = facts.members.find(({ id }) => id === record.id);
    if (member === undefined || isCurrent(member)) return false;
    return isKept || member.up === null || !hasGuests(facts, member);
  }

  #rolloutOf(name: string): RolloutRecord | undefined {
    return this.#options.rolloutRecords.mirror.get(name)?.value;
  }
}

function updateOf({ configuration }: ConfigurationContent): Update {
  return configuration.update ?? NO_UPDATE;
}

/** Throws Conflict when somebody else made the record. */
function asConflict(error: unknown): never {
  if (DroverError.is(error, 'DRV_STORE_CONFLICT')) throw new Conflict(error.message);
  throw error;
}
