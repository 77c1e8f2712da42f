/** The unmet waits of a configuration before the first start of its instances, in words, with the chain of waits. */
import type { Configuration } from '../../../src/model/configuration.js';
import { isMetBy, type Wait, waitText } from '../../../src/model/fields/waits-for.js';
import { hasFinished, type InstanceRecord } from '../../../src/model/instance.js';
import { endText } from '../../../src/model/words.js';
import type { StateRecords } from '../../../src/state/master-state.js';

type Standing = Pick<StateRecords, 'configurations' | 'instances' | 'instancesByConfiguration'>;

/**
 * Sentences for the waits that no instance of the other configuration meets. Where all its instances wait, too, the
 * waits of that configuration follow.
 */
export function unmetWaits(
  { name, waitsFor = [] }: Pick<Configuration, 'name' | 'waitsFor'>,
  standing: Standing,
  named: Set<string> = new Set([name]),
): string[] {
  const { configurations, instances, instancesByConfiguration } = standing;
  return waitsFor.flatMap((wait) => {
    const ids = [...instancesByConfiguration.get(wait.configuration)];
    const others = ids.flatMap((id) => instances.get(id)?.value ?? []);
    if (others.some((one) => isMetBy(wait, one))) return [];
    const other = configurations.get(wait.configuration)?.value.configuration;
    const own = `${name} waits until ${waitText(wait)}${whyNot(wait, others, other !== undefined)}`;
    if (other === undefined || named.has(other.name) || others.some(({ home }) => home !== null))
      return [own];
    return [own, ...unmetWaits(other, standing, named.add(other.name))];
  });
}

/** Says what the other configuration lacks, where waiting alone does not help. */
function whyNot({ until }: Wait, others: readonly InstanceRecord[], isKnown: boolean): string {
  if (others.length === 0) return isKnown ? ' (it has no instance)' : ' (there is no such configuration)';
  const ended = until === 'finished' ? others.find(hasFinished) : undefined;
  if (ended === undefined) return '';
  const { exitCode: code, exitSignal: signal } = ended.status;
  return ` (${ended.id} ${endText({ code, signal })}: start it again)`;
}
