/** Turns changes of the master's mirrors into events for the listeners of extensions. */
import type { ConfigurationRecord } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import type { MirrorReader } from '../store/mirror.js';
import type { NodeEvent } from './extension.js';

export interface EventSources {
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'onChange'>;
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'onChange'>;
  readonly nodes: Pick<MirrorReader<NodeRecord>, 'onChange'>;
}

/**
 * Emits events for all changes. Call it before the mirrors start, so that existing records give events too. Returns the
 * function that unsubscribes.
 */
export function followEvents(
  { instances, configurations, nodes }: EventSources,
  emit: (event: NodeEvent) => void,
): () => void {
  const unsubscribe = [
    instances.onChange((instanceId, after, before) => {
      const record = after?.value ?? before?.value;
      const from = before?.value.status.state ?? null;
      const to = after?.value.status.state ?? null;
      if (record === undefined || from === to) return;
      const { configurationName } = record;
      emit({ type: 'instance-state', instanceId, configurationName, from, to });
    }),
    nodes.onChange((nodeId, after, before) => {
      const condition = after?.value.condition;
      if (condition !== undefined && condition !== before?.value.condition)
        emit({ type: 'node-condition', nodeId, condition });
    }),
    configurations.onChange((name, after, before) => {
      if (after === undefined) {
        if (before !== undefined) emit({ type: 'configuration', name, change: 'removed' });
      } else if (before === undefined) emit({ type: 'configuration', name, change: 'added' });
      else if (before.value.hash !== after.value.hash)
        emit({ type: 'configuration', name, change: 'changed' });
    }),
  ];
  return () => {
    for (const end of unsubscribe) end();
  };
}
