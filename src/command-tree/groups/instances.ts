/** `instance ...`: shows instances, and changes what is wanted of them. */

import type { InstanceExplanation } from '../../explain/explanation.js';
import { renderInstanceExplanation } from '../../explain/render.js';
import type { InstanceInfo } from '../../model/instance.js';
import { MAX_CREATED } from '../../model/plain/command-limits.js';
import type { InstanceDetails } from '../../operations/instance-details.js';
import type { InstanceLog } from '../../operations/instance-log.js';
import type { UpdatedInstance } from '../../operations/instance-update.js';
import { describe, messageText, tableOf } from '../command.js';
import { wholeNumber } from '../parsers.js';
import { declareLogs, logQuestionOf, logText } from './instance-logs.js';
import {
  describeInstance,
  INSTANCE_HEAD,
  instanceRow,
  sentenceOfCreation,
  WIDE_INSTANCE_HEAD,
  wideInstanceCells,
} from './instance-text.js';

/** The most rows of a table. With `-o json` there is no limit. */
const MAX_ROWS = 1000;

export interface InstanceMessage {
  readonly message: string;
  readonly instanceId: string;
}

interface ById {
  readonly id: string;
}

const byId = (id: string): ById => ({ id });

export const INSTANCE_COMMANDS = {
  'instance list': describe({
    usage: '[configuration]',
    about: 'all instances, or those of one configuration',
    input: (configuration: string | undefined) => ({ configuration }),
    text: async (found: readonly InstanceInfo[], view, { configuration }) => {
      const shown = found.slice(0, MAX_ROWS);
      const head = view.isWide ? [...INSTANCE_HEAD.slice(0, -1), ...WIDE_INSTANCE_HEAD] : INSTANCE_HEAD;
      const rows = shown.map((instance) =>
        view.isWide
          ? [...instanceRow(instance, view.now).slice(0, -1), ...wideInstanceCells(instance)]
          : instanceRow(instance, view.now),
      );
      const none =
        configuration === undefined ? 'there are no instances' : `${configuration} has no instances`;
      const table = await tableOf(view, head, rows, none);
      const more = found.length - rows.length;
      return more === 0
        ? table
        : `${table}\n... and ${more} more: name a configuration, or use -o json for all`;
    },
    names: (found) => found.map(({ id }) => id),
  }),
  'instance info': describe({
    usage: '<id>',
    about: 'all that is known of an instance',
    input: byId,
    text: (details: InstanceDetails, { now }) => describeInstance(details, now),
    names: ({ id }) => [id],
  }),
  'instance why': describe({
    usage: '<id>',
    about: 'why an instance is as it is, and what happens next',
    input: byId,
    text: (explanation: InstanceExplanation) => renderInstanceExplanation(explanation),
  }),
  'instance logs': describe({
    usage: '<id>',
    about: 'the last lines that an instance wrote',
    declare: declareLogs,
    input: logQuestionOf,
    text: (log: InstanceLog) => logText(log),
    json: ({ instanceId, ...log }) => ({ instanceId, ...log }),
  }),
  'instance create': describe({
    about: `make new instances of a configuration, ${MAX_CREATED} at once at most`,
    declare: (command) => {
      command.argument('<configuration>').argument('[count]', 'default 1', wholeNumber(MAX_CREATED), 1);
    },
    input: (configuration: string, count: number) => ({ configuration, count }),
    text: (created: readonly InstanceInfo[]) => created.map(sentenceOfCreation).join('\n'),
    names: (created) => created.map(({ id }) => id),
  }),
  'instance stop': lifecycle('end the process and keep the instance'),
  'instance start': lifecycle('start a stopped instance'),
  'instance restart': lifecycle('end the process and start it anew'),
  'instance update': describe({
    usage: '<id>',
    about: 'give an instance what its configuration says now: same id, node, directory; it is restarted',
    declare: (command) => {
      command.option('--wait-for-players', 'when nobody plays on it any more, instead of now');
    },
    input: (id: string, { waitForPlayers }: { readonly waitForPlayers?: boolean }) => ({
      id,
      waitForPlayers: waitForPlayers === true,
    }),
    text: (answer: UpdatedInstance) => messageText(answer),
    names: ({ instanceId }) => [instanceId],
  }),
  'instance delete': describe({
    usage: '<id>',
    about: 'end the process and remove the instance; its directory too, unless it is static',
    input: byId,
    text: (answer: InstanceMessage) => messageText(answer),
    names: ({ instanceId }) => [instanceId],
    destroys: ({ id }) => `instance ${id} is deleted, with its directory unless it is static`,
  }),
  'instance execute': describe({
    usage: '<id> <command...>',
    about: 'write a line to the standard input of an instance, exactly as typed',
    input: (id: string, words: readonly string[]) => ({ id, command: words.join(' ') }),
    text: (answer: InstanceMessage & { readonly command: string }) => messageText(answer),
  }),
};

function lifecycle(about: string) {
  return describe({
    usage: '<id>',
    about,
    input: byId,
    text: (answer: InstanceMessage & { readonly target: string }) => messageText(answer),
    names: ({ instanceId }) => [instanceId],
  });
}
