/** `cluster cordon|uncordon|drain|forget`: takes a node out of service and back. The words for a drain are here, too. */
import { type Command, Option } from 'commander';
import type { ForgottenNode, NodeDrain, NodeMessage } from '../../api/routes/node-operation-routes.js';
import type { DrainProgress } from '../../model/node-drain.js';
import { DRAIN_DEADLINE_SECONDS, MAX_DRAIN_DEADLINE_SECONDS } from '../../model/plain/command-limits.js';
import { durationText } from '../../model/plain/duration-text.js';
import { countText } from '../../model/words.js';
import { describe, messageText } from '../command.js';
import { lengthOfTime } from '../parsers.js';

/** The most instances that a line of output names. */
const MOST_NAMED = 20;

/** A node that was forgotten, and whether it was connected then. */
interface Forgetting {
  readonly forgotten: ForgottenNode;
  readonly wasConnected: boolean;
}

const byNode = (node: string) => ({ node });

export const NODE_OPERATION_COMMANDS = {
  'cluster cordon': cordoning('give a node no new instances; what runs there stays'),
  'cluster uncordon': cordoning('give a node instances again; calls off a drain'),
  'cluster drain': describe({
    usage: '<node>',
    about: 'cordon a node and move its instances to others; static ones stay',
    declare: declareDrain,
    input: (node: string, { deadline, now }: { readonly deadline: number; readonly now?: boolean }) => ({
      node,
      deadlineSeconds: now === true ? 0 : deadline / 1000,
    }),
    text: ({ nodeId, drain }: NodeDrain) => {
      const after =
        drain?.isDrained === false
          ? ['"cluster status" shows how it goes; "cluster uncordon" calls it off.']
          : [];
      return [...(drain === null ? [] : describeDrain(nodeId, drain)), ...after].join('\n');
    },
    names: ({ nodeId }) => [nodeId],
    mayAsk: true,
    destroys: ({ node, deadlineSeconds }) =>
      deadlineSeconds === 0
        ? `the instances of node ${node} are moved without waiting for players`
        : undefined,
  }),
  'cluster forget': describe({
    usage: '<node>',
    about: 'remove a node that is gone, and its instances; revokes its credential and its join token',
    declare: (command) => {
      command
        .option('--force', 'also one that is connected, or has files of static instances')
        .option('--keep-token', 'leave the join token to other nodes; this one can join with it again');
    },
    input: (
      node: string,
      { force = false, keepToken = false }: { readonly force?: boolean; readonly keepToken?: boolean },
    ) => ({ node, force, keepToken }),
    text: (forgetting: Forgetting) => describeForgotten(forgetting),
    json: ({ forgotten }) => forgotten,
    names: ({ forgotten }) => [forgotten.nodeId],
    destroys: ({ node }) => `node ${node} is forgotten, with its instances`,
  }),
};

function cordoning(about: string) {
  return describe({
    usage: '<node>',
    about,
    input: byNode,
    text: (said: NodeMessage) => messageText(said),
    names: ({ nodeId }) => [nodeId],
  });
}

function declareDrain(command: Command): void {
  const deadline = new Option('--deadline <time>', 'how long to wait for players: 90s, 10m, 2h')
    .argParser(
      lengthOfTime(
        MAX_DRAIN_DEADLINE_SECONDS * 1000,
        'It must be a time such as 90s, 10m or 2h, 30d at most.',
      ),
    )
    .default(DRAIN_DEADLINE_SECONDS * 1000, '10m');
  const now = new Option('--now', 'do not wait for players').conflicts('deadline');
  command.addOption(deadline).addOption(now);
}

function describeForgotten({ forgotten, wasConnected }: Forgetting): string {
  const { nodeId, instances, statics, joinToken } = forgotten;
  const lines = [`node ${nodeId} is forgotten${instances.length === 0 ? '' : `, with ${named(instances)}`}`];
  if (statics.length > 0) lines.push(`The files of ${named(statics)} stay on its disk, under running/.`);
  if (wasConnected && instances.length > 0)
    lines.push('What runs there goes on until Drover is ended there with Ctrl-C.');
  if (joinToken?.isRevoked === true)
    lines.push(
      `Join token ${joinToken.id} is revoked with it; other nodes that joined with it stay (--keep-token leaves it).`,
    );
  else if (joinToken !== undefined)
    lines.push(
      `It can join again with join token ${joinToken.id}, until "cluster token revoke ${joinToken.id}" ends that.`,
    );
  return lines.join('\n');
}

function named(ids: readonly string[]): string {
  const shown = ids.slice(0, MOST_NAMED).join(', ');
  const more = ids.length > MOST_NAMED ? ', ...' : '';
  return `${countText(ids.length, 'instance')} (${shown}${more})`;
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
