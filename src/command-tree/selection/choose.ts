/** Chooses the instances of an action, and says what the action would do to them. Pure. */
import { DroverError } from '../../model/errors.js';
import type { InstanceInfo } from '../../model/instance.js';
import { countText, quoteText } from '../../model/words.js';
import type { InstanceFilter, Selection } from './selection.js';

export type InstanceAction = 'start' | 'stop' | 'restart' | 'update' | 'delete';

/** The instances that the caller sees. */
export interface KnownInstances {
  readonly instances: readonly InstanceInfo[];
  /** `instanceGroups` of configurations, by name. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** The configurations that each one waits for, by name. */
  readonly waits: ReadonlyMap<string, readonly string[]>;
}

export interface Chosen {
  /** The chosen instances; never empty. */
  readonly instances: readonly InstanceInfo[];
  /** How many other instances match the filter but need no action. */
  readonly left: number;
}

/**
 * Chooses named instances as they are. From a filter it leaves out instances that do not need the action: `start`
 * takes only STOPPED instances; `stop` and `restart` take all others. Throws DRV_INSTANCE_UNKNOWN when an id is not
 * known, or no instance is left.
 */
export function chooseInstances(action: InstanceAction, selection: Selection, known: KnownInstances): Chosen {
  if ('ids' in selection) return { instances: byIds(selection.ids, known), left: 0 };
  const { filter } = selection;
  const all = known.instances.filter((instance) => isMeant(instance, filter, known));
  const instances = all.filter(({ state }) => concerns(action, state));
  if (instances.length > 0) return { instances, left: all.length - instances.length };
  throw unknown(
    all.length === 0
      ? `there is no instance${ofFilter(filter)}`
      : `of ${countText(all.length, 'instance')}${ofFilter(filter)} none ${action === 'start' ? 'is stopped' : 'runs'}: there is nothing to ${action}`,
  );
}

/**
 * The chosen instances in the order of a stop: those of a later wave are stopped when the waves before have ended,
 * because these wait for them (`waitsFor`). One wave where none waits for another.
 */
export function wavesOf(
  instances: readonly InstanceInfo[],
  { waits }: Pick<KnownInstances, 'waits'>,
): readonly (readonly InstanceInfo[])[] {
  const awaited = new Set(instances.flatMap(({ configurationName }) => waits.get(configurationName) ?? []));
  const isAwaited = ({ configurationName }: InstanceInfo): boolean => awaited.has(configurationName);
  const later = instances.filter(isAwaited);
  // Only a circle, which no write lets in, leaves none that nobody waits for.
  if (later.length === 0 || later.length === instances.length) return [instances];
  return [instances.filter((one) => !isAwaited(one)), ...wavesOf(later, { waits })];
}

function byIds(ids: readonly string[], { instances }: KnownInstances): readonly InstanceInfo[] {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const missing = ids.filter((id) => !byId.has(id)).map(quoteText);
  if (missing.length > 0)
    throw unknown(
      `there is no instance ${missing.join(', ')}; nothing was done, also of the others that were named`,
    );
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export function isMeant(
  { configurationName, wrapperNodeId }: InstanceInfo,
  { configuration, group, node }: InstanceFilter,
  { groups }: KnownInstances,
): boolean {
  if (configuration !== undefined && configurationName !== configuration) return false;
  if (node !== undefined && wrapperNodeId !== node) return false;
  return group === undefined || groups.get(configurationName)?.includes(group) === true;
}

function concerns(action: InstanceAction, state: string): boolean {
  if (action === 'start') return state === 'STOPPED';
  return action === 'update' || action === 'delete' || state !== 'STOPPED';
}

/** ` of lobby, of group games, on node n1`; '' for all instances. */
function ofFilter({ configuration, group, node }: InstanceFilter): string {
  const parts = [
    configuration === undefined ? [] : [`of configuration ${quoteText(configuration)}`],
    group === undefined ? [] : [`of group ${quoteText(group)}`],
    node === undefined ? [] : [`on node ${quoteText(node)}`],
  ].flat();
  return parts.length === 0 ? '' : ` ${parts.join(', ')}`;
}

/** Describes what is about to happen, such as `3 instances are restarted; 1 of them has players (4)`. */
export function consequenceText(
  action: InstanceAction,
  { instances, left }: Chosen,
  waitForPlayers: boolean,
): string {
  const does = {
    start: 'started',
    stop: 'stopped, until started again',
    restart: 'ended and started anew',
    update: 'updated in place to what the configuration says now; what runs is restarted',
    delete: 'deleted, with all directories but those of static ones',
  }[action];
  const are = instances.length === 1 ? 'is' : 'are';
  const parts = [`${countText(instances.length, 'instance')} ${are} ${does}`];
  const busy = instances.filter(({ players }) => (players ?? 0) > 0);
  if (busy.length > 0 && action !== 'start') {
    const players = busy.reduce((sum, one) => sum + (one.players ?? 0), 0);
    const wait = waitForPlayers ? ', and those wait for them' : '';
    parts.push(`${busy.length} of them ${busy.length === 1 ? 'has' : 'have'} players (${players})${wait}`);
  }
  if (left > 0)
    parts.push(
      `${left} more ${left === 1 ? 'is' : 'are'} left alone: ${action === 'start' ? 'not stopped' : 'stopped'}`,
    );
  return parts.join('; ');
}

function unknown(message: string): DroverError {
  return new DroverError('DRV_INSTANCE_UNKNOWN', message);
}
