/** `drover wait`: watches the change stream until a condition holds, also for things that do not exist yet. */

import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, usageError } from '../../command-tree/runs/client-error.js';
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
import type { ApiClient } from '../api-client.js';
import { followTopics, type WantedTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';
import { CONDITIONS, type Goal, type Kind } from './states.js';

/** The time limit for fetching the reasons at the end. */
const WHY_MS = 5000;

interface WaitQuestion {
  readonly kind: Kind;
  readonly names: readonly string[];
  readonly goal: Goal;
  readonly timeoutMs: number;
}

/**
 * Resolves when the condition holds for all, after printing a line for each. Throws a ClientError, with exit code 6
 * when the time is over.
 */
export async function wait(api: ApiClient, question: WaitQuestion, output: LiveOutput): Promise<void> {
  const { kind, goal, names, timeoutMs } = question;
  const isSo = CONDITIONS[kind][goal];
  if (isSo === undefined)
    throw usageError(
      `--for ${goal} is not for ${kind}: there are ${Object.keys(CONDITIONS[kind]).join(', ')}`,
    );
  const waiting = new Set(names);
  const late = AbortSignal.timeout(timeoutMs);
  const following = { say: output.say, signal: AbortSignal.any([late, output.signal]) };
  for await (const world of followTopics(api.connection, topicsOf(question), following))
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

function topicsOf({ kind, names }: WaitQuestion): WantedTopics {
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

/** Returns the reason for the current state, or the reason why it is unknown. */
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
