/**
 * The rollout controller: brings the instances of a configuration to another content, step by step. Key: configuration
 * name.
 */

import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import type { ConfigurationContent } from '../../../src/model/configuration.js';
import type { InstanceRecord, PlacedTemplate } from '../../../src/model/instance.js';
import {
  hasEnded,
  MOST_FAILURE_CHARS,
  MOST_FAILURE_LINES,
  phaseOf,
  type RolloutFailure,
  type RolloutRecord,
} from '../../../src/model/rollout.js';
import { NO_UPDATE } from '../../../src/model/update.js';
import { countText, cutText } from '../../../src/model/words.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { modifyOrCreate, removeRecord } from '../../../src/store/modify.js';
import type { Operation } from '../../../src/store/store.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import type { InstanceUpdates } from '../content/instance-updates.js';
import { Ages } from '../replacement/ages.js';
import type { Outlook } from '../replacement/facts.js';
import type { Mover } from '../replacement/mover.js';
import type { Victims } from '../replacement/victims.js';
import type { GoneFacts, RolloutFacts } from './facts.js';
import { type Foretold, foretell } from './foretell.js';
import { Members, type Target } from './gather.js';
import { hasGuests, isCurrent } from './members.js';
import type { RolloutMove } from './moves.js';
import { isMoving, plan, type RolloutStep } from './plan.js';
import { sentenceOf } from './record.js';

interface RolloutsOptions extends StateRecords, Ambient {
  readonly victims: Pick<Victims, 'lookAround'>;
  readonly mover: Mover;
  readonly updates: Pick<InstanceUpdates, 'update'>;
  readonly writer: Pick<InstanceWriter, 'markOutdated'>;
  /** Ids of the instances that minimum-service is about to end, also those whose players it waits for. */
  readonly endingOf: (configurationName: string) => ReadonlySet<string>;
  /** The last lines of the last run of an instance. Never throws: empty when its node does not tell. */
  readonly lastLinesOf?: ((id: string) => Promise<readonly string[]>) | undefined;
  readonly templateDigest: (group: string, name: string, storage: string) => Promise<string | null>;
}

const NOBODY: ReadonlySet<string> = new Set();
const NO_VERSIONS: Pick<RolloutFacts, 'templates' | 'behind'> = { templates: {} };

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

  /** The facts for a round; undefined: the configuration has nothing to roll out. */
  observe(name: string): RolloutFacts | GoneFacts | undefined | Promise<RolloutFacts | undefined> {
    const record = this.#options.configurations.get(name)?.value;
    const rollout = this.#rolloutOf(name);
    if (record === undefined) return this.#observeGone(name);
    const update = record.configuration.update ?? NO_UPDATE;
    if (rollout === undefined && update.strategy === 'manual') return undefined;
    return update.templates ? this.#withTemplates(record, rollout) : this.#round(record, rollout);
  }

  /** The facts of a round. Notes the runs of members, when the rollout began, and its last progress. */
  #round(
    record: ConfigurationContent,
    rollout: RolloutRecord | undefined,
    versions: Pick<RolloutFacts, 'templates' | 'behind'> = NO_VERSIONS,
  ): RolloutFacts {
    const { name } = record.configuration;
    if (rollout !== undefined) this.#ages.note(name, 'begin', rollout.since);
    if (rollout?.progressAt != null) this.#ages.note(name, 'progress', rollout.progressAt);
    return { ...this.#factsOf(record, rollout, 'gather'), ...versions };
  }

  #factsOf(
    record: ConfigurationContent,
    rollout: RolloutRecord | undefined,
    how: 'gather' | 'look',
    given?: Pick<RolloutFacts, 'outlook' | 'leaving'>,
  ): RolloutFacts {
    const { contents, victims, clock, endingOf, timetables } = this.#options;
    const { name } = record.configuration;
    const target = this.#targetOf(record, rollout);
    const { update, content } = target;
    const isAsleep = rollout !== undefined && hasEnded(rollout) && rollout.state !== 'failed';
    const members = isAsleep && !update.templates ? [] : this.#members[how](name, target, clock.monotonic());
    return {
      kind: 'rollout',
      name,
      now: clock.now(),
      hash: record.hash,
      update,
      rollout,
      isNews: rollout !== undefined && contents.isNews(record, rollout),
      isFrozen: timetables.get(name)?.value.frozen !== undefined,
      members,
      leaving: members.some((one) => one.content === 'unsafe') ? endingOf(name) : NOBODY,
      outlook: given?.outlook ?? victims.lookAround(name, content),
      agedMs: rollout === undefined ? 0 : this.#ages.since(name, 'begin', rollout.since),
      stalledMs: rollout?.progressAt == null ? 0 : this.#ages.since(name, 'progress', rollout.progressAt),
      ...NO_VERSIONS,
      ...given,
    };
  }

  /**
   * Foretells the rollout and its victims if `record` were in force, and minimum-service ended the instances `leaving`.
   * Remembers nothing, and leaves changed templates out.
   */
  foretell(
    record: ConfigurationContent,
    { isAtMaximum, leaving }: Pick<Outlook, 'isAtMaximum'> & Pick<RolloutFacts, 'leaving'>,
  ): Foretold {
    const { name } = record.configuration;
    const outlook = { obstacle: null, recheckInMs: null, isDelayed: false, isAtMaximum };
    const before = this.#rolloutOf(name);
    const facts = this.#factsOf(record, before, 'look', { outlook, leaving });
    const first = this.#targetOf(record, before);
    return foretell(facts, (rollout) => {
      const target = this.#targetOf(record, rollout);
      // There may be thousands of members: do not look at them again for the same target.
      return facts.members.length > 0 && isSameTarget(target, first)
        ? facts.members
        : this.#members.look(name, target, this.#options.clock.monotonic());
    });
  }

  /** True while a rollout replaces the instance: then the rollout resolves its pairs. */
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
        return removeRecord(this.#options.rolloutRecords, step.name);
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
        const key = keyOf({ storage, group, name });
        if (digests.has(key)) continue;
        const digest = await templateDigest(group, name, storage);
        // A template whose digest cannot be had now counts as unchanged.
        if (digest !== null) digests.set(key, digest);
      }
    const { name } = record.configuration;
    const behind = [...instancesByConfiguration.get(name)].filter((id) => {
      const found = instances.get(id)?.value;
      return found !== undefined && isBehind(found, digests);
    });
    const versions = { templates: Object.fromEntries(digests), behind: new Set(behind) };
    return this.#round(record, rollout ?? this.#rolloutOf(name), versions);
  }

  #targetOf(record: ConfigurationContent, rollout: RolloutRecord | undefined): Target {
    return {
      content:
        rollout === undefined
          ? { ...record, generation: 0 }
          : this.#options.contents.targetUnder(record, rollout),
      isFailed: rollout !== undefined && phaseOf(rollout) === 'failed',
      update: {
        ...(record.configuration.update ?? NO_UPDATE),
        ...(rollout?.players && { players: rollout.players }),
      },
    };
  }

  async #write(before: RolloutRecord | undefined, planned: RolloutRecord): Promise<void> {
    const { rolloutRecords: set, logger } = this.#options;
    const isNews = planned.failure !== undefined && planned.failure !== before?.failure;
    const rollout = isNews ? await this.#withLines(planned, planned.failure) : planned;
    const written = await modifyOrCreate(set, rollout.name, (current) =>
      current === before ? rollout : undefined,
    );
    if (written === undefined) throw new Conflict(`the rollout of ${rollout.name} changed meanwhile`);
    const isAsBefore = before?.state === rollout.state && before.since === rollout.since;
    // Log nothing for the first content of a configuration: it replaced no other.
    if (isAsBefore || (before === undefined && rollout.state === 'complete')) return;
    const level = rollout.state === 'failed' || rollout.reason !== null ? 'warn' : 'info';
    const text = sentenceOf(rollout) + (rollout.state === 'complete' ? this.#warnedText(rollout.name) : '');
    logger[level]({ configuration: rollout.name, state: rollout.state }, text);
  }

  /** The record with the last lines of the failed instance, which is removed once the record is written. */
  async #withLines(rollout: RolloutRecord, failure: RolloutFailure): Promise<RolloutRecord> {
    const found = await this.#options.lastLinesOf?.(failure.instance);
    const lines = (found ?? []).slice(-MOST_FAILURE_LINES).map((line) => cutText(line, MOST_FAILURE_CHARS));
    const last = lines.findLast((line) => line.trim() !== '');
    if (last === undefined) return rollout;
    const message = `${rollout.message}; last line: ${last.trim()}`;
    return { ...rollout, message, failure: { ...failure, lines } };
  }

  /** Says how many instances have a warning, for example because they kept files that they had changed. */
  #warnedText(name: string): string {
    const { instances, instancesByConfiguration } = this.#options;
    const warned = [...instancesByConfiguration.get(name)].filter(
      (id) => instances.get(id)?.value.status.warning !== undefined,
    );
    if (warned.length === 0) return '';
    return `; ${countText(warned.length, 'instance has', 'instances have')} a warning (\`config why ${name}\`)`;
  }

  async #update(id: string): Promise<void> {
    const { updates, contents, instances, logger } = this.#options;
    const name = instances.get(id)?.value.configurationName ?? '';
    const content = contents.targetOf(name);
    if (content === undefined) throw new Conflict(`the rollout of ${name} is gone`);
    // Check again before the write: a rollback or a changed file may have made the decision void.
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

  /** Checked right before the move is written: players may have come, or somebody may have paused the rollout. */
  #checkMove(name: string, step: Exclude<RolloutMove, { do: 'update' }>): Operation[] {
    const { instances, rolloutRecords: set } = this.#options;
    const rollout = set.mirror.get(name);
    const record = instances.get(step.id)?.value;
    if (rollout === undefined || record === undefined || !this.#isDue(record, step.do === 'create'))
      throw new Conflict(`the rollout of ${name}, or ${step.id}, changed meanwhile`);
    // A creation needs no check here, because it checks the rollout itself.
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

function keyOf({ storage, group, name }: Pick<PlacedTemplate, 'storage' | 'group' | 'name'>): string {
  return `${storage}/${group}/${name}`;
}

/** True when the instance runs with another version of a template than `digests` has. */
function isBehind(
  { placement, status: { pid, installed } }: InstanceRecord,
  digests: ReadonlyMap<string, string>,
): boolean {
  if (pid === null || installed === undefined) return false;
  return (placement?.templates ?? []).some((template) => {
    const { group, name } = template;
    const version = installed.templates.find((one) => one.group === group && one.name === name);
    const digest = digests.get(keyOf(template));
    return version !== undefined && digest !== undefined && version.digest !== digest;
  });
}

/** True when two targets of one configuration's content bring the same. */
function isSameTarget(a: Target, b: Target): boolean {
  return (
    a.content.hash === b.content.hash &&
    a.content.generation === b.content.generation &&
    a.isFailed === b.isFailed
  );
}
