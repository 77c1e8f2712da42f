/** The sources of the entries of each topic. */

import type { MeasuredInstance } from '../../channel/master/usage-book.js';
import { isSameHealth } from '../../explain/health.js';
import { shownEvent } from '../../model/event.js';
import { shownExit } from '../../model/exit-record.js';
import type { InstanceRecord } from '../../model/instance.js';
import type { NodeRecord } from '../../model/node.js';
import { LOCAL_STORAGE } from '../../model/template.js';
import {
  faultyNames,
  hasHealth,
  healthOfConfiguration,
  namesWithHealth,
} from '../../operations/configuration-health.js';
import type { Reads } from '../../operations/reads.js';
import { rolloutOf } from '../../operations/rollouts/rollouts.js';
import type { MirrorReader } from '../../store/mirror.js';
import { drainShown, nodeStateOf } from '../routes/cluster-routes.js';
import type { InstanceView } from '../routes/instances/instance-view.js';
import type { Traits } from './change-order.js';
import type { TopicSource } from './topic.js';

export function topicSources(needs: Reads, view: InstanceView): Readonly<Record<string, TopicSource>> {
  return {
    instances: instanceSource(needs, view),
    configurations: configurationSource(needs),
    health: healthSource(needs),
    nodes: nodeSource(needs),
    templates: templateSource(needs),
    rollouts: rolloutSource(needs),
    events: eventSource(needs),
    exits: exitSource(needs),
    usage: usageSource(needs),
  };
}

/** Follows a mirror: first its present entries in the order of their last change, then each change. */
function followMirror<T>(
  mirror: MirrorReader<T>,
  take: (id: string, value: T | undefined) => void,
): () => void {
  const there = [...mirror.entries()].sort(([, a], [, b]) => a.revision - b.revision);
  for (const [id, { value }] of there) take(id, value);
  return mirror.onChange((id, after) => take(id, after?.value));
}

function instanceSource({ instances }: Reads, view: InstanceView): TopicSource {
  return {
    filters: ['configuration', 'node', 'state'],
    textOf: (id) => view.get(id),
    follow: ({ put, remove }) =>
      followMirror(instances, (id, record) => {
        // An instance that is being removed is not shown.
        if (record === undefined || record.desired.goal === 'remove') remove(id);
        else put(id, traitsOf(record));
      }),
  };
}

function traitsOf({
  configurationName: configuration,
  placement,
  status: { state },
}: InstanceRecord): Traits {
  return placement === null ? { configuration, state } : { configuration, node: placement.nodeId, state };
}

function configurationSource({ configurations }: Reads): TopicSource {
  return {
    filters: ['configuration'],
    textOf: (name) => {
      const record = configurations.get(name)?.value;
      if (record === undefined) return undefined;
      const { sourceFile: file, hash: revision, configuration } = record;
      return JSON.stringify({ name, file, revision, configuration });
    },
    follow: ({ put, remove }) =>
      followMirror(configurations, (name, record) =>
        record === undefined ? remove(name) : put(name, { configuration: name }),
      ),
  };
}

/** The health of configurations: it changes with records, overrides, instances, rollouts and files. */
function healthSource(needs: Reads): TopicSource {
  const { configurations, overrides, instances, rollouts, configurationFiles, timetableRecords } = needs;
  return {
    filters: ['configuration'],
    textOf: (name) =>
      hasHealth(needs, name) ? JSON.stringify(healthOfConfiguration(needs, name)) : undefined,
    follow: ({ put, remove }) => {
      const touch = (name: string): void =>
        hasHealth(needs, name) ? put(name, { configuration: name }) : remove(name);
      let faulty = faultyNames(needs);
      const look = (): void => {
        const before = faulty;
        faulty = faultyNames(needs);
        for (const name of new Set([...before, ...faulty])) touch(name);
      };
      for (const name of namesWithHealth(needs)) touch(name);
      const ends = [
        configurations.onChange(touch),
        overrides.onChange(touch),
        rollouts.onChange(touch),
        timetableRecords.mirror.onChange(touch),
        instances.onChange((_id, after, before) => {
          const name = (after ?? before)?.value.configurationName;
          if (name !== undefined && !isSameHealth(after?.value, before?.value)) touch(name);
        }),
        configurationFiles.onLook(look),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** The nodes. A node also changes with its instances: with the RAM and CPU given out, and the progress of its drain. */
function nodeSource(needs: Reads): TopicSource {
  const { nodes, instances } = needs;
  return {
    filters: ['node', 'state'],
    textOf: (id, isRestricted) => {
      const node = nodes.get(id)?.value;
      if (node === undefined) return undefined;
      const state = nodeStateOf(needs, node);
      return JSON.stringify(isRestricted ? { ...state, drain: drainShown(state.drain) } : state);
    },
    follow: ({ put, remove }) => {
      const take = (id: string, node: NodeRecord | undefined): void =>
        node === undefined ? remove(id) : put(id, { node: id, state: node.condition });
      const touch = (record: InstanceRecord | undefined): void => {
        const id = record?.placement?.nodeId;
        const node = id === undefined ? undefined : nodes.get(id)?.value;
        if (node !== undefined) take(node.nodeId, node);
      };
      const ends = [
        followMirror(nodes, take),
        instances.onChange((_id, after, before) => {
          if (isSameLoad(after?.value, before?.value)) return;
          touch(before?.value);
          touch(after?.value);
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** True when a change of an instance changes neither the load of its node nor the node's drain. */
function isSameLoad(after: InstanceRecord | undefined, before: InstanceRecord | undefined): boolean {
  return (
    after?.placement?.nodeId === before?.placement?.nodeId &&
    after?.desired.goal === before?.desired.goal &&
    after?.status.state === before?.status.state
  );
}

function templateSource({ templates: { library } }: Reads): TopicSource {
  return {
    filters: [],
    isWhole: true,
    textOf: (id) => {
      const [group = '', name = ''] = id.split('/');
      const isThere = library.groups().get(group)?.includes(name) === true;
      return isThere ? JSON.stringify({ group, name, storage: LOCAL_STORAGE }) : undefined;
    },
    follow: ({ put, remove }) => {
      for (const [group, names] of library.groups()) for (const name of names) put(`${group}/${name}`, {});
      return library.onChange((group, name) => {
        if (name === '') return;
        const isThere = library.groups().get(group)?.includes(name) === true;
        if (isThere) put(`${group}/${name}`, {});
        else remove(`${group}/${name}`);
      });
    },
  };
}

function rolloutSource(needs: Reads): TopicSource {
  return {
    filters: ['configuration', 'state'],
    textOf: (name) => {
      const rollout = rolloutOf(needs, name);
      return rollout && JSON.stringify(rollout);
    },
    follow: ({ put, remove }) =>
      followMirror(needs.rollouts, (name, rollout) =>
        rollout === undefined ? remove(name) : put(name, { configuration: name, state: rollout.state }),
      ),
  };
}

function eventSource({ events }: Reads): TopicSource {
  return {
    filters: ['configuration', 'node'],
    textOf: (id, isRestricted) => {
      const event = events.get(id)?.value;
      if (event === undefined || (isRestricted && event.configuration === null)) return undefined;
      return JSON.stringify(shownEvent(id, event));
    },
    follow: ({ put, remove }) =>
      followMirror(events, (id, event) =>
        event === undefined
          ? remove(id)
          : put(id, {
              ...(event.configuration !== null && { configuration: event.configuration }),
              ...(event.node !== null && { node: event.node }),
            }),
      ),
  };
}

function exitSource({ exits }: Reads): TopicSource {
  return {
    filters: ['configuration', 'node'],
    textOf: (id) => {
      const exit = exits.get(id)?.value;
      return exit && JSON.stringify(shownExit(id, exit));
    },
    follow: ({ put, remove }) =>
      followMirror(exits, (id, exit) =>
        exit === undefined ? remove(id) : put(id, { configuration: exit.configuration, node: exit.node }),
      ),
  };
}

function usageSource({ usages }: Reads): TopicSource {
  const known = new Map<string, { readonly node: string; readonly last: MeasuredInstance }>();
  return {
    filters: ['configuration', 'node'],
    textOf: (instance) => {
      const measured = known.get(instance);
      if (measured === undefined) return undefined;
      const { node, last } = measured;
      return JSON.stringify({ instance, configuration: last.configuration, node, ...last.used });
    },
    follow: ({ put, remove }) =>
      usages.follow({
        measured: (id, node, last) => {
          known.set(id, { node, last });
          put(id, { configuration: last.configuration, node });
        },
        gone: (id, node) => {
          // Ignore a node that the instance has left: its new node may have measured it already.
          if (known.get(id)?.node !== node) return;
          known.delete(id);
          remove(id);
        },
      }),
  };
}
