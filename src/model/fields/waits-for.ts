/** The field `waitsFor`: others that stand before an instance starts for the first time. Circles of them have no end. */
import { z } from 'zod';
import { hasFinished, type InstanceRecord, isAtRest, isServing } from '../instance.js';
import { nameSchema } from '../names.js';

const untilSchema = z.enum(['ready', 'finished', 'started']);
type Until = z.output<typeof untilSchema>;

const waitSchema = z.object({
  configuration: nameSchema.describe('the configuration that is waited for'),
  until: untilSchema.default('ready').describe('what one of its instances must be, or have done'),
});
export type Wait = Readonly<z.output<typeof waitSchema>>;

export const waitsForSchema = z.array(waitSchema).max(16).describe('what must stand before a first start');

/** True when the program of an instance ended with exit code 0, or reported that its work is done. */
function hasSucceeded(record: InstanceRecord): boolean {
  const { desired, status } = record;
  if (desired.stoppedBy === 'instance') return isAtRest(record);
  return hasFinished(record) && status.keepsFailing !== true && status.exitCode === 0;
}

const IS_MET: Readonly<Record<Until, (record: InstanceRecord) => boolean>> = {
  ready: (record) => record.desired.goal === 'run' && isServing(record),
  finished: hasSucceeded,
  started: ({ status }) =>
    status.pid !== null || status.hasBeenReady || (status.exitCode ?? status.exitSignal) !== null,
};

export function isMetBy({ until }: Pick<Wait, 'until'>, record: InstanceRecord): boolean {
  return IS_MET[until](record);
}

/** All of an instance by which others decide whether they wait. Equal texts: they decide alike. */
export function standingOf(record: InstanceRecord | undefined): string {
  if (record === undefined) return '';
  const met = untilSchema.options.filter((until) => IS_MET[until](record));
  return [...met, hasFinished(record) && record.status.exitCode].join(' ');
}

/** The waits as texts such as `db is ready`. */
export function waitText({ configuration, until }: Wait): string {
  return `${configuration} ${until === 'ready' ? 'is ready' : `has ${until}`}`;
}

interface Waiting {
  readonly name: string;
  readonly waitsFor?: readonly Wait[] | undefined;
}

/**
 * The fault of a content that waits for itself over others, with the shortest such chain; undefined: it does not.
 * `otherOf` gives the other contents by name.
 */
export function circleFault(
  content: Waiting,
  otherOf: (name: string) => Waiting | undefined,
): string | undefined {
  if (content.waitsFor === undefined) return undefined;
  const { name } = content;
  const cameFrom = new Map<string, string>();
  const reached = [name];
  for (const at of reached)
    for (const { configuration: next } of (at === name ? content : otherOf(at))?.waitsFor ?? []) {
      if (next === name) {
        const circle = [at, name];
        for (let one = at; one !== name; circle.unshift(one)) one = cameFrom.get(one) ?? name;
        return `waitsFor: goes in a circle: ${circle.join(' -> ')}. Each would wait for ever: remove one of these waits`;
      }
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      reached.push(next);
    }
  return undefined;
}

/** Warnings of waits for configurations that are not there (yet). */
export function unknownWaits(content: Waiting, isKnown: (name: string) => boolean) {
  return (content.waitsFor ?? []).flatMap(({ configuration: name }, place) => {
    const message = `there is no configuration "${name}": no instance starts before there is`;
    const field = `waitsFor.${place}.configuration`;
    return isKnown(name) ? [] : [{ configurationName: content.name, field, message }];
  });
}
