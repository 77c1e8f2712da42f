/**
 * Foretells what becomes of the instances of one configuration under a content that is not in force yet. It runs the
 * plans of minimum-service, of the content controller and of the rollout. Pure.
 */
import type { Pace } from '../../../src/loop/pace.js';
import { isHeldBack } from '../../../src/model/rollout.js';
import type { ServiceForecast } from '../../../src/operations/plan/forecast.js';
import type { UpdateOutcome } from '../../../src/operations/writes.js';
import { type ContentFacts, type ContentStep, plan as planContent } from '../content/plan.js';
import type { LeavingFacts } from '../minimum-service/leavers.js';
import { missingOf, plan as planService, type ServiceFacts, surplusIn } from '../minimum-service/plan.js';
import { split } from '../minimum-service/surplus.js';
import type { Foretold, ForetoldVictim } from '../rollout/foretell.js';

/** An existing instance that is not being removed. */
export interface PlannedInstance {
  readonly id: string;
  /**
   * The facts for the content controller; null: the configuration is removed, so the content controller
   * decides nothing. They say that the node can hold the instance: `byItself` finds out whether it can.
   */
  readonly facts: ContentFacts | null;
  /** True when the content needs another process. */
  readonly isOtherProcess: boolean;
  /** The outcome when the instance takes the content without a rollout. Call once: it reserves the new place. */
  byItself(): UpdateOutlook;
  /** The outcome when a rollout updates the instance in place. Call once: it reserves the new place. */
  inPlace(): UpdateOutlook;
}

/** `refusal`: the node does not fit the content, so the instance keeps its own. */
export type UpdateOutlook = Extract<UpdateOutcome, 'restarted' | 'taken'> | { readonly refusal: string };

export interface Outcome {
  readonly create: number;
  readonly ended: ReadonlySet<string>;
  /** Ids of the `ended` instances that end only when their players have left. */
  readonly busy: ReadonlySet<string>;
}

/** More passes than any plan needs, because each pass creates or ends an instance. */
const MOST_PASSES = 10_000;

/** The creations and ends by minimum-service under a content, assuming that new instances do not fail. */
export function outcomeOf(service: ServiceFacts): Outcome {
  const ended = new Set<string>();
  let create = 0;
  const isShed = service.surplus !== undefined;
  // Assume that all players leave in the end. Leave out the history of creations: its failures came with the
  // former content.
  const surplus = { players: 'ignore', leftMs: null } as const;
  let facts = { ...service, history: undefined, ...(isShed && { surplus }) };
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const { steps } = planService(facts, 0);
    if (steps.length === 0) break;
    for (const step of steps) {
      // Create all missing instances in one pass: a large minimum would take a thousand passes.
      if (step.do === 'create') create += missingOf(facts);
      else ended.add(step.id);
    }
    facts = {
      ...facts,
      ordinary: service.ordinary + create,
      instances: facts.instances.filter(({ id }) => !ended.has(id)),
    };
  }
  const busy = split(surplusIn(service)).waiting.map(({ id }) => id);
  return { create, ended, busy: new Set(busy.filter((id) => ended.has(id))) };
}

/**
 * The outcome when a configuration is removed: which instances end, and which of those wait for their players to leave.
 */
export function outcomeWithout(leaving: LeavingFacts): Outcome {
  const { now, waiting } = split(leaving.leaving);
  const ids = (some: typeof now): string[] => some.map(({ id }) => id);
  return { create: 0, ended: new Set(ids([...now, ...waiting])), busy: new Set(ids(waiting)) };
}

/** What happens to an instance. `taken`: it has the content from its next start on, or needs no start for it. */
type Fate = 'ended' | 'replaced' | UpdateOutlook;

export interface Fates {
  /**
   * The fates by instance id. An instance without a fate is left alone. So is an instance whose fate is a
   * refusal of its node.
   */
  readonly of: Map<string, Fate>;
  /** Ids of instances whose fate first waits for their players to leave. */
  readonly waiting: Set<string>;
}

/**
 * Finds the fates that minimum-service decides, then those that the content controller decides. Call it
 * before `addVictims`, because an instance that the content controller updates is no victim.
 */
export async function fatesOf(
  instances: readonly PlannedInstance[],
  { ended, busy }: Pick<Outcome, 'ended' | 'busy'>,
  pace: Pace,
): Promise<Fates> {
  const of = new Map<string, Fate>([...ended].map((id) => [id, 'ended']));
  const waiting = new Set(busy);
  for (const instance of instances) {
    if (pace.isOver) await pace.rest();
    const { id, facts } = instance;
    if (facts === null || of.has(id)) continue;
    const step = stepOf(facts.players === 0 ? facts : { ...facts, players: 0 });
    if (step === undefined) continue;
    const outlook = step.do === 'refit' ? 'taken' : instance.byItself();
    // Give no fate to an instance that its node refuses to update: a rollout may still replace it.
    if (typeof outlook === 'object') continue;
    of.set(id, outlook);
    if (outlook === 'restarted' && facts.players > 0 && stepOf(facts) === undefined) waiting.add(id);
  }
  return { of, waiting };
}

function stepOf(facts: ContentFacts): ContentStep | undefined {
  return planContent(facts).steps[0];
}

/** Adds the fates that a rollout decides. Returns the victims that are replaced, in order. */
export async function addVictims(
  { of, waiting }: Fates,
  {
    instances,
    rollout: { victims, onPromotion },
  }: {
    readonly instances: readonly PlannedInstance[];
    readonly rollout: Pick<Foretold, 'victims' | 'onPromotion'>;
  },
  pace: Pace,
): Promise<ForetoldVictim[]> {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const replaced: ForetoldVictim[] = [];
  for (const victim of victims) {
    if (pace.isOver) await pace.rest();
    const { id, waits } = victim;
    const instance = byId.get(id);
    if (instance === undefined || onPromotion.has(id) || of.has(id)) continue;
    const fate = victim.static ? instance.inPlace() : 'replaced';
    of.set(id, fate);
    if (fate === 'replaced') replaced.push(victim);
    if (waits && (fate === 'restarted' || fate === 'replaced')) waiting.add(id);
  }
  return replaced;
}

export function forecastOf(
  instances: readonly PlannedInstance[],
  { of, waiting }: Fates,
  { create, onPromotion, rollout }: Pick<Outcome, 'create'> & Pick<Foretold, 'onPromotion' | 'rollout'>,
): ServiceForecast {
  const are = { replaced: 0, restarted: 0, ended: 0, taken: 0, later: 0, older: 0, current: 0 };
  for (const instance of instances) {
    const { id } = instance;
    const fate = of.get(id);
    if (typeof fate === 'string') are[fate]++;
    else if (onPromotion.has(id)) are.later++;
    else if (instance.isOtherProcess) are.older++;
    else are.current++;
  }
  return {
    create,
    replace: are.replaced,
    restart: are.restarted,
    stop: are.ended,
    keep: instances.length - are.replaced - are.restarted - are.ended,
    waitForPlayers: waiting.size,
    onPromotion: are.later,
    older: are.older,
    heldBack: rollout !== undefined && isHeldBack(rollout) ? (rollout.message ?? 'its rollout failed') : null,
  };
}
