/** `cluster cordon|uncordon|drain|forget`: takes a node out of service and back. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DrainProgress } from '../../model/node-drain.js';
import { countText, durationText } from '../../model/words.js';
import { parseDuration } from '../../operations/duration.js';
import {
  cordonNode,
  DRAIN_DEADLINE_SECONDS,
  drainNode,
  forgetNode,
  MAX_DRAIN_DEADLINE_SECONDS,
  type NodeMessage,
  uncordonNode,
} from '../../operations/node-operations.js';
import { addCommand, type CommandContext, type SharedOptions, show } from '../context.js';
import { findNode, requireNode } from '../find.js';

interface ForgetCommandOptions extends SharedOptions {
  readonly force?: boolean;
  readonly keepToken?: boolean;
}

/** The most instances that one line names. */
const MOST_NAMED = 20;

export function addClusterOperations(group: Command, context: CommandContext): void {
  const { dependencies } = context;
  addCommand(group, 'cordon <node>', 'give a node no new instances; what runs there stays').action(
    async (node: string, options: SharedOptions) => {
      findNode(dependencies, node);
      await say(context, options, await cordonNode(dependencies, node));
    },
  );
  addCommand(group, 'uncordon <node>', 'give a node instances again; calls off a drain').action(
    async (node: string, options: SharedOptions) => {
      findNode(dependencies, node);
      await say(context, options, await uncordonNode(dependencies, node));
    },
  );
  addDrain(group, context);
  addCommand(
    group,
    'forget <node>',
    'remove a node that is gone, and its instances; revokes its credential and its join token',
  )
    .option('--force', 'also one that is connected, or has files of static instances')
    .option('--keep-token', 'leave the join token to other nodes; this one can join with it again')
    .action((node: string, options: ForgetCommandOptions) => forget(context, node, options));
}

/** The word beside a node's condition: `drained`, `draining` or `cordoned`; undefined: none of these. */
export function markOf(cordoned: boolean, drain: DrainProgress | undefined): string | undefined {
  if (drain !== undefined) return drain.isDrained ? 'drained' : 'draining';
  return cordoned ? 'cordoned' : undefined;
}

/** Describes a drain: how far it is, then what it waits for and what stays, one line each. */
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
    .default(DRAIN_DEADLINE_SECONDS, '10m');
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
  const drained = await drainNode(dependencies, node, options.now === true ? 0 : options.deadline);
  const { drain: progress } = drained;
  const lines = progress === null ? [] : describeDrain(node, progress);
  const after =
    progress?.isDrained === false
      ? ['"cluster status" shows how it goes; "cluster uncordon" calls it off.']
      : [];
  await show(
    context,
    options,
    () => drained,
    () => [...lines, ...after].join('\n'),
  );
}

async function forget(context: CommandContext, node: string, options: ForgetCommandOptions): Promise<void> {
  const { dependencies } = context;
  requireNode(dependencies, node);
  const isConnected = dependencies.nodes.get(node)?.value.condition === 'connected';
  const forgotten = await forgetNode(dependencies, node, {
    force: options.force === true,
    keepToken: options.keepToken === true,
  });
  const { instances, statics, joinToken } = forgotten;
  const lines = [`node ${node} is forgotten${instances.length === 0 ? '' : `, with ${named(instances)}`}`];
  if (statics.length > 0) lines.push(`The files of ${named(statics)} stay on its disk, under running/.`);
  if (isConnected && instances.length > 0)
    lines.push('What runs there goes on until Drover is ended there with Ctrl-C.');
  if (joinToken?.isRevoked === true)
    lines.push(
      `Join token ${joinToken.id} is revoked with it; other nodes that joined with it stay (--keep-token leaves it).`,
    );
  else if (joinToken !== undefined)
    lines.push(
      `It can join again with join token ${joinToken.id}, until "cluster token revoke ${joinToken.id}" ends that.`,
    );
  await show(
    context,
    options,
    () => forgotten,
    () => lines.join('\n'),
  );
}

function named(ids: readonly string[]): string {
  const shown = ids.slice(0, MOST_NAMED).join(', ');
  const more = ids.length > MOST_NAMED ? ', ...' : '';
  return `${countText(ids.length, 'instance')} (${shown}${more})`;
}

/** Parses a time into seconds. */
function deadlineOf(text: string): number {
  const ms = parseDuration(text);
  const seconds = ms === undefined ? Number.POSITIVE_INFINITY : ms / 1000;
  if (seconds <= MAX_DRAIN_DEADLINE_SECONDS) return seconds;
  throw new InvalidArgumentError('It must be a time such as 90s, 10m or 2h, 30d at most.');
}

async function say(context: CommandContext, options: SharedOptions, said: NodeMessage): Promise<void> {
  await show(
    context,
    options,
    () => said,
    () => said.message,
  );
}
