/** `cluster cordon|uncordon|drain|forget`: taking a node out of service and back. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DrainProgress } from '../../model/node-drain.js';
import { countText, durationText } from '../../model/words.js';
import { addCommand, type CommandContext, type SharedOptions, show } from '../context.js';
import { parseDuration } from '../duration.js';
import { findNode } from '../find.js';

const DEFAULT_DEADLINE_MS = 600_000;
const MAX_DEADLINE_MS = 30 * 86_400_000;
/** Instances named in one line. */
const MOST_NAMED = 20;

export function addClusterOperations(group: Command, context: CommandContext): void {
  const { nodeWrites } = context.dependencies;
  addCommand(group, 'cordon <node>', 'give a node no new instances; what runs there stays').action(
    async (node: string, options: SharedOptions) => {
      findNode(context.dependencies, node);
      await nodeWrites.cordon(node);
      await say(context, options, node, `node ${node} is cordoned: it gets no new instances`);
    },
  );
  addCommand(group, 'uncordon <node>', 'give a node instances again; calls off a drain').action(
    async (node: string, options: SharedOptions) => {
      findNode(context.dependencies, node);
      await nodeWrites.uncordon(node);
      await say(context, options, node, `node ${node} gets instances again`);
    },
  );
  addDrain(group, context);
  addCommand(group, 'forget <node>', 'remove a node that is gone, and its instances; revokes its credential')
    .option('--force', 'also one that is connected, or has files of static instances')
    .action((node: string, options: SharedOptions & { force?: boolean }) => forget(context, node, options));
}

/** Of a node, beside its condition: `drained`, `draining`, `cordoned`, or nothing. */
export function markOf(cordoned: boolean, drain: DrainProgress | undefined): string | undefined {
  if (drain !== undefined) return drain.isDrained ? 'drained' : 'draining';
  return cordoned ? 'cordoned' : undefined;
}

/** What a drain has come to, then what it waits for and what stays, one line each. */
export function describeDrain(node: string, drain: DrainProgress): string[] {
  const { isDrained, left, remainingMs, waitingFor } = drain;
  const limit =
    remainingMs === 0
      ? 'players are not waited for'
      : `players are waited for, ${durationText(remainingMs)} at most`;
  const head = isDrained
    ? `node ${node} is drained: it can be stopped`
    : `node ${node} is being drained: ${countText(left, 'instance')} left; ${limit}`;
  return [head, ...waitingFor.map((line) => `  ${line}`)];
}

function addDrain(group: Command, context: CommandContext): void {
  const deadline = new Option('--deadline <time>', 'how long to wait for players: 90s, 10m, 2h')
    .argParser(deadlineOf)
    .default(DEFAULT_DEADLINE_MS, '10m');
  const now = new Option('--now', 'do not wait for players').conflicts('deadline');
  addCommand(group, 'drain <node>', 'cordon a node and move its instances to others; static ones stay')
    .addOption(deadline)
    .addOption(now)
    .action((node: string, options: SharedOptions & { deadline: number; now?: boolean }) =>
      drain(context, node, options),
    );
}

async function drain(
  context: CommandContext,
  node: string,
  options: SharedOptions & { deadline: number; now?: boolean },
): Promise<void> {
  const { dependencies } = context;
  findNode(dependencies, node);
  await dependencies.nodeWrites.drain(node, options.now === true ? 0 : options.deadline);
  const progress = dependencies.drainOf(node);
  const lines = progress === undefined ? [] : describeDrain(node, progress);
  const after =
    progress?.isDrained === false
      ? ['"cluster status" shows how it goes; "cluster uncordon" calls it off.']
      : [];
  await show(
    context,
    options,
    () => ({ nodeId: node, drain: progress ?? null }),
    () => [...lines, ...after].join('\n'),
  );
}

async function forget(
  context: CommandContext,
  node: string,
  options: SharedOptions & { force?: boolean },
): Promise<void> {
  const { dependencies } = context;
  findNode(dependencies, node);
  const isConnected = dependencies.nodes.get(node)?.value.condition === 'connected';
  const { instances, statics } = await dependencies.nodeWrites.forget(node, {
    force: options.force === true,
  });
  const lines = [`node ${node} is forgotten${instances.length === 0 ? '' : `, with ${named(instances)}`}`];
  if (statics.length > 0) lines.push(`The files of ${named(statics)} stay on its disk, under running/.`);
  if (isConnected && instances.length > 0)
    lines.push('What runs there goes on until Drover is ended there with Ctrl-C.');
  await show(
    context,
    options,
    () => ({ nodeId: node, instances, statics }),
    () => lines.join('\n'),
  );
}

function named(ids: readonly string[]): string {
  const shown = ids.slice(0, MOST_NAMED).join(', ');
  const more = ids.length > MOST_NAMED ? ', ...' : '';
  return `${countText(ids.length, 'instance')} (${shown}${more})`;
}

function deadlineOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= MAX_DEADLINE_MS) return ms;
  throw new InvalidArgumentError('It must be a time such as 90s, 10m or 2h, 30d at most.');
}

async function say(
  context: CommandContext,
  options: SharedOptions,
  nodeId: string,
  message: string,
): Promise<void> {
  await show(
    context,
    options,
    () => ({ message, nodeId }),
    () => message,
  );
}
