/** `drover wait`: watches the change stream until a condition holds, also for things that do not exist yet. */

import {
  renderConfigurationExplanation,
  renderInstanceExplanation,
  renderNodeExplanation,
} from '../../command-tree/explanation-text.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, usageError } from '../../command-tree/runs/client-error.js';
import { durationText } from '../../model/plain/duration-text.js';
import type { ApiClient } from '../api-client.js';
import { followTopics, type WantedTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';
import { CONDITIONS, type CommitGoal, type Condition, type Goal, type Kind } from './states.js';

/** The time limit for fetching the reasons at the end. */
const WHY_MS = 5000;

const ofConfigurations = (names: readonly string[]) => ({ filter: { configuration: names } });

interface WaitedKind {
  /** The topics that the conditions of the kind need. */
  readonly topics: (names: readonly string[]) => WantedTopics;
  /** The API path of its things. */
  readonly path: string;
  /** Prints why a thing is in its state. */
  readonly render: (explanation: never) => string;
}

const CONFIGURATIONS = { path: '/configurations', render: renderConfigurationExplanation };

const KIND_OF: Readonly<Record<Kind, WaitedKind>> = {
  instance: { topics: () => ({ instances: {} }), path: '/instances', render: renderInstanceExplanation },
  config: {
    topics: (names) => ({ configurations: ofConfigurations(names), instances: ofConfigurations(names) }),
    ...CONFIGURATIONS,
  },
  node: {
    topics: (names) => ({ nodes: { filter: { node: names } } }),
    path: '/cluster/nodes',
    render: renderNodeExplanation,
  },
  rollout: { topics: (names) => ({ rollouts: ofConfigurations(names) }), ...CONFIGURATIONS },
};

interface WaitQuestion {
  readonly kind: Kind;
  readonly names: readonly string[];
  readonly goal: Goal | CommitGoal;
  readonly timeoutMs: number;
}

/**
 * Resolves when the condition holds for all, after printing a line for each. Throws a ClientError, with exit code 6
 * when the time is over.
 */
export async function wait(api: ApiClient, question: WaitQuestion, output: LiveOutput): Promise<void> {
  const { kind, goal, names, timeoutMs } = question;
  const conditions: Readonly<Partial<Record<string, Condition>>> = CONDITIONS[kind];
  const isSo = conditions[goal];
  if (isSo === undefined)
    throw usageError(
      `--for ${goal} is not for ${kind}: there are ${Object.keys(CONDITIONS[kind]).join(', ')}`,
    );
  const isMinimum = goal === 'minimum';
  const done = isMinimum ? 'has its minimum online' : `is ${goal}`;
  const waiting = new Set(names);
  const late = AbortSignal.timeout(timeoutMs);
  const following = { say: output.say, signal: AbortSignal.any([late, output.signal]) };
  for await (const world of followTopics(api.connection, KIND_OF[kind].topics(names), following))
    for (const name of [...waiting]) {
      if (!isSo(world, name)) continue;
      waiting.delete(name);
      const isRead = await output.write(`${kind} ${name} ${done}\n`);
      if (waiting.size === 0 || !isRead) return;
    }
  if (output.signal.aborted) return;
  const what = isMinimum ? 'at its minimum' : goal;
  // The sentence stands before the reasons, which are long.
  output.say(`${kind} ${[...waiting].join(', ')}: not ${what} within ${durationText(timeoutMs)}`);
  for (const name of waiting) output.show(await whyText(api, kind, name));
  throw new ClientError(EXIT.timedOut, '');
}

/** Returns the reason for the current state, or the reason why it is unknown. */
async function whyText(api: ApiClient, kind: Kind, name: string): Promise<string> {
  const { path, render } = KIND_OF[kind];
  try {
    const options = { timeoutMs: WHY_MS };
    return render(await api.send<never>('GET', `${path}/${pathPart(name)}/why`, undefined, options));
  } catch (error) {
    if (error instanceof ClientError) return error.message;
    throw error;
  }
}
