/** `drover wait`: waits over the change stream until something is as it is wanted, also for what is not there yet. */

import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type {
  ConfigurationExplanation,
  InstanceExplanation,
  NodeExplanation,
} from '../../explain/explanation.js';
import {
  renderConfigurationExplanation,
  renderInstanceExplanation,
  renderNodeExplanation,
} from '../../explain/render.js';
import { durationText } from '../../model/words.js';
import { isEntryMessage } from '../../watch-client/messages.js';
import { KEY_OF } from '../../watch-client/topics.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';
import type { ApiClient } from '../api-client.js';
import { WatchStream } from '../connection/watch-stream.js';
import type { LiveOutput } from './live-output.js';
import { CONDITIONS, type Goal, type Kind } from './states.js';

/** For the reason of each at the end. */
const WHY_MS = 5000;

export interface WaitQuestion {
  readonly kind: Kind;
  readonly names: readonly string[];
  readonly goal: Goal;
  readonly timeoutMs: number;
}

type Topics = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Resolves when all are as wanted, and prints a line for each. Throws a ClientError, with 6 when the time is over. */
export async function wait(api: ApiClient, question: WaitQuestion, output: LiveOutput): Promise<void> {
  const { kind, goal, names, timeoutMs } = question;
  const isSo = CONDITIONS[kind][goal];
  if (isSo === undefined)
    throw new ClientError(
      EXIT.usage,
      `--for ${goal} is not for ${kind}: there are ${Object.keys(CONDITIONS[kind]).join(', ')}`,
    );
  const waiting = new Set(names);
  const late = AbortSignal.timeout(timeoutMs);
  for await (const world of worlds(api, question, late, output))
    for (const name of [...waiting]) {
      if (!isSo(world, name)) continue;
      waiting.delete(name);
      const isRead = await output.write(`${sentence(kind, name, goal)}\n`);
      if (waiting.size === 0 || !isRead) return;
    }
  if (output.signal.aborted) return;
  for (const name of waiting) output.show(await whyText(api, kind, name));
  throw new ClientError(
    EXIT.timedOut,
    `${kind} ${[...waiting].join(', ')}: not ${goalText(goal)} within ${durationText(timeoutMs)}`,
  );
}

/** The world after each change, once all of it is known. Ends when the time is over. */
async function* worlds(api: ApiClient, question: WaitQuestion, late: AbortSignal, output: LiveOutput) {
  const watch = new WatchStream(api.connection, { say: output.say });
  const topics = topicsOf(question);
  for (const [topic, filter] of Object.entries(topics)) watch.subscribe(topic, () => filter);
  const instances = new WatchedEntries(KEY_OF.instances);
  const configurations = new WatchedEntries(KEY_OF.configurations);
  const nodes = new WatchedEntries(KEY_OF.nodes);
  const rollouts = new WatchedEntries(KEY_OF.rollouts);
  const entries = { instances, configurations, nodes, rollouts };
  const world = {
    instances: () => instances.values(),
    configuration: (name: string) => configurations.get(name),
    node: (id: string) => nodes.get(id),
    rollout: (name: string) => rollouts.get(name),
  };
  for await (const message of watch.messages(AbortSignal.any([late, output.signal]))) {
    if (message.type === 'error') throw new ClientError(EXIT.failed, message.error);
    if (!isEntryMessage(message)) continue;
    for (const [topic, known] of Object.entries(entries)) if (topic === message.topic) known.take(message);
    const areWhole = Object.entries(entries).every(([topic, { isWhole }]) => isWhole || !(topic in topics));
    // In the middle of a snapshot something may be of before, and something of now.
    if (areWhole && (message.type === 'changes' || message.isLast)) yield world;
  }
}

function topicsOf({ kind, names }: WaitQuestion): Topics {
  switch (kind) {
    case 'instance':
      return { instances: {} };
    case 'config': {
      const filter = { filter: { configuration: names } };
      return { configurations: filter, instances: filter };
    }
    case 'node':
      return { nodes: { filter: { node: names } } };
    case 'rollout':
      return { rollouts: { filter: { configuration: names } } };
  }
}

function sentence(kind: Kind, name: string, goal: Goal): string {
  return goal === 'minimum' ? `${kind} ${name} has its minimum online` : `${kind} ${name} is ${goal}`;
}

function goalText(goal: Goal): string {
  return goal === 'minimum' ? 'at its minimum' : goal;
}

/** Why it is as it is; what stands in the way of knowing it. */
async function whyText(api: ApiClient, kind: Kind, name: string): Promise<string> {
  const ask = <T>(path: string): Promise<T> =>
    api.send('GET', `${path}/${pathPart(name)}/why`, undefined, { timeoutMs: WHY_MS });
  try {
    switch (kind) {
      case 'instance':
        return renderInstanceExplanation(await ask<InstanceExplanation>('/instances'));
      case 'config':
        return renderConfigurationExplanation(await ask<ConfigurationExplanation>('/configurations'));
      case 'node':
        return renderNodeExplanation(await ask<NodeExplanation>('/cluster/nodes'));
      case 'rollout':
        return renderConfigurationExplanation(await ask<ConfigurationExplanation>('/configurations'));
    }
  } catch (error) {
    if (error instanceof ClientError) return error.message;
    throw error;
  }
}
