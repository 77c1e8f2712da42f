/** The health of configurations from the records, for every reader: the page, the client, the API and the metrics. */
import type { ConfigurationHealth } from '../explain/concerns.js';
import { claimedName, faultsOf, isOfOneFile } from '../explain/files.js';
import { healthOf } from '../explain/health.js';
import type { ConfigurationFileError } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import { freezeText } from '../model/plain/schedule-text.js';
import { minimumAt } from '../model/schedule.js';
import { fileBeside } from './configuration-overrides.js';
import type { Reads } from './reads.js';

/** True when something is in force under the name, a broken file claims it, or instances are left of it. */
export function hasHealth(needs: Reads, name: string): boolean {
  const isKnown = needs.configurations.get(name) !== undefined || needs.instanceWords.of(name).size > 0;
  return isKnown || faultOf(needs, name) !== undefined || fileBeside(needs, name) !== undefined;
}

/** The health of a name that has one. */
export function healthOfConfiguration(needs: Reads, name: string): ConfigurationHealth {
  const record = needs.configurations.get(name)?.value;
  const minimum = record && minimumAt(record.configuration, needs.clock.now());
  const counts = needs.instanceWords.of(name);
  const health = healthOf({
    counts,
    minimum,
    fault: faultOf(needs, name),
    file: fileBeside(needs, name),
    rollout: needs.rollouts.get(name)?.value,
    instances: () => instancesOf(needs, name),
    causeOf: (id) => causeOf(needs, id),
  });
  const instances = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const { frozen } = needs.timetableRecords.mirror.get(name)?.value ?? {};
  return {
    ...{ name, online: counts.get('online') ?? 0, minimum: minimum ?? 0, instances, health },
    ...(frozen && { frozen: freezeText(frozen) }),
  };
}

/** The cause of the last end of an instance. It looks at its own ends alone, because a fleet has many ends. */
function causeOf({ exits, exitsByInstance }: Reads, id: string): string | undefined {
  const ends = [...exitsByInstance.get(id)].flatMap((key) => exits.get(key)?.value ?? []);
  return ends.sort((a, b) => b.at - a.at)[0]?.cause;
}

function faultOf(
  { configurations, configurationFiles }: Reads,
  name: string,
): ConfigurationFileError | undefined {
  const record = configurations.get(name)?.value;
  return faultsOf(name, record, configurationFiles.errors()).find(isOfOneFile);
}

/** The names that have a health, in order. */
export function namesWithHealth(needs: Reads): string[] {
  const names = new Set([...needs.configurations.entries()].map(([name]) => name));
  for (const { configuration } of needs.instanceWords.entries()) names.add(configuration);
  for (const name of faultyNames(needs)) names.add(name);
  for (const [name] of needs.overrides.entries()) if (fileBeside(needs, name)) names.add(name);
  return [...names].sort();
}

/** The health of all names, in order. */
export function listHealth(needs: Reads): ConfigurationHealth[] {
  return namesWithHealth(needs).map((name) => healthOfConfiguration(needs, name));
}

/** The configurations that faults of single files concern. */
export function faultyNames({ configurations, configurationFiles }: Reads): Set<string> {
  const faults = configurationFiles.errors().filter(isOfOneFile);
  const files = new Set(faults.map(({ file }) => file));
  const owners = [...configurations.entries()].filter(([, { value }]) => files.has(value.sourceFile));
  return new Set([...faults.map(claimedName), ...owners.map(([name]) => name)]);
}

function* instancesOf(
  { instances, instancesByConfiguration }: Reads,
  name: string,
): Generator<InstanceRecord> {
  for (const id of instancesByConfiguration.get(name)) {
    const record = instances.get(id)?.value;
    if (record !== undefined && record.desired.goal !== 'remove') yield record;
  }
}
