/** `instance ...`: shows instances, and changes what is wanted of them. */

import { Argument, Option } from 'commander';
import type { InstanceDetails } from '../../api/routes/instances/instance-details.js';
import type { InstanceLog } from '../../api/routes/instances/log-routes.js';
import type { UpdatedInstance } from '../../api/routes/instances/update-route.js';
import type { InstanceExplanation } from '../../explain/explanation.js';
import { renderInstanceExplanation } from '../explanation-text.js';
import type { InstanceInfo } from '../../model/instance.js';
import { MAX_CREATED } from '../../model/plain/command-limits.js';
import { SENDABLE_SIGNALS, type SendableSignal } from '../../model/plain/sendable-signals.js';
import type { LeftDirectories } from '../../model/run/left-directory.js';
import { describe, messageText } from '../command.js';
import { declareList, type ListOptions, listOf, sortedBy } from '../list.js';
import { wholeNumber } from '../parsers.js';
import {
  type Acted,
  actedFailure,
  actedJson,
  actedNames,
  actedText,
  type InstanceMessage,
} from '../selection/act.js';
import {
  declareFilter,
  declareSelection,
  type InstanceFilter,
  SELECTION_USAGE,
  type Selecting,
  type SelectionOptions,
  selectionOf,
  singleId,
} from '../selection/selection.js';
import { declareLogs, logQuestionOf, logText } from './instance-logs.js';
import {
  describeInstance,
  INSTANCE_COLUMNS,
  INSTANCE_ORDERS,
  leftText,
  sentenceOf,
  WIDE_INSTANCE_COLUMNS,
} from './instance-text.js';

/** The most rows of a table. With `-o json` there is no limit. */
const MAX_ROWS = 1000;

const STATES = ['CREATING', 'ONLINE', 'OFFLINE', 'STOPPED'];

const byId = (id: string) => ({ id });

export const INSTANCE_COMMANDS = {
  'instance list': describe({
    usage: '[configuration]',
    about: 'all instances, or those of one configuration',
    declare: (command) =>
      void declareList(declareFilter(command), INSTANCE_ORDERS, STATES).addOption(
        new Option(
          '--left',
          'directories of static instances that are gone; "instance adopt" takes one up',
        ).conflicts('watch'),
      ),
    input: (
      configuration: string | undefined,
      { left = false, ...options }: ListOptions & InstanceFilter & { left?: boolean },
    ) => ({ ...options, configuration: configuration ?? options.configuration, left }),
    text: (found: readonly InstanceInfo[] | LeftDirectories, view, { configuration, sort }) => {
      if ('directories' in found) return leftText(found, view);
      const shown = sortedBy(found, INSTANCE_ORDERS, sort).slice(0, MAX_ROWS);
      const columns = view.isWide ? WIDE_INSTANCE_COLUMNS : INSTANCE_COLUMNS;
      const none =
        configuration === undefined ? 'there are no instances' : `${configuration} has no instances`;
      const table = listOf(view, columns, shown, none);
      const more = found.length - shown.length;
      return more === 0
        ? table
        : `${table}\n... and ${more} more: name a configuration, or use -o json for all`;
    },
    names: (found) => ('directories' in found ? found.directories : found).map(({ id }) => id),
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
    text: (explanation: InstanceExplanation, { columns }) => renderInstanceExplanation(explanation, columns),
  }),
  'instance logs': describe({
    usage: '<id>',
    about: 'the last lines that an instance wrote',
    declare: declareLogs,
    input: logQuestionOf,
    text: (log: InstanceLog) => logText(log),
    isVerbatim: true,
    json: ({ instanceId, ...log }) => ({ instanceId, ...log }),
  }),
  'instance create': describe({
    about: `make new instances of a configuration, ${MAX_CREATED} at once at most`,
    declare: (command) => {
      command.argument('<configuration>').argument('[count]', 'default 1', wholeNumber(MAX_CREATED), 1);
    },
    input: (configuration: string, count: number) => ({ configuration, count }),
    text: (created: readonly InstanceInfo[]) => created.map((one) => sentenceOf('created', one)).join('\n'),
    names: (created) => created.map(({ id }) => id),
  }),
  'instance adopt': describe({
    usage: '<directory>',
    about: 'make an instance of the directory that a static one left: same id, same node',
    declare: (command) =>
      void command.option('--configuration <name>', 'default: that of the instance that left it'),
    input: (directory: string, { configuration }: { readonly configuration?: string }) => ({
      directory,
      configuration,
    }),
    text: (adopted: InstanceInfo) => sentenceOf('adopted', adopted),
    names: ({ id }) => [id],
  }),
  'instance stop': lifecycle('end processes and keep their instances'),
  'instance start': lifecycle('start stopped instances'),
  'instance restart': lifecycle('end processes and start them anew'),
  'instance update': describe({
    ...forMany<UpdatedInstance>(),
    about: 'give instances what their configuration says now: same id, node, directory; they are restarted',
    declare: (command) => {
      declareSelection(command);
      command.option('--wait-for-players', 'when nobody plays on it any more, instead of now');
    },
    input: (ids: readonly string[], options: SelectionOptions & { readonly waitForPlayers?: boolean }) => ({
      selection: selectionOf(ids, options),
      waitForPlayers: options.waitForPlayers === true,
    }),
  }),
  'instance delete': describe({
    ...forMany<InstanceMessage>(),
    about: 'end processes and remove their instances; their directories too, unless they are static',
    destroys: ({ selection }) => {
      const id = singleId(selection);
      // For any other selection the run asks, because only the run knows which instances are chosen.
      return id === undefined
        ? undefined
        : `instance ${id} is deleted, with its directory unless it is static`;
    },
  }),
  'instance execute': describe({
    usage: '<id> <command...>',
    about: 'write a line to the standard input of an instance, exactly as typed',
    input: (id: string, words: readonly string[]) => ({ id, command: words.join(' ') }),
    text: (answer: InstanceMessage & { readonly command: string }) => messageText(answer),
  }),
  'instance signal': describe({
    about:
      'send a signal to the main process of an instance; SIGHUP has many servers read their settings again',
    declare: (command) => {
      command
        .argument('<id>')
        .addArgument(new Argument('<signal>', 'its name, such as SIGHUP').choices(SENDABLE_SIGNALS))
        .option('--all', 'to every process of the instance');
    },
    input: (id: string, signal: SendableSignal, { all = false }: { readonly all?: boolean }) => ({
      id,
      signal,
      all,
    }),
    text: (answer: InstanceMessage & { readonly signal: string }) => messageText(answer),
  }),
};

function lifecycle(about: string) {
  return describe({ ...forMany<InstanceMessage & { readonly target: string }>(), about });
}

/** The parts of a description that all actions on selected instances share. */
function forMany<Done extends InstanceMessage>() {
  return {
    usage: SELECTION_USAGE,
    declare: declareSelection,
    input: (ids: readonly string[], options: SelectionOptions): Selecting => ({
      selection: selectionOf(ids, options),
    }),
    text: (acted: Acted<Done>) => actedText(acted),
    json: actedJson,
    names: actedNames,
    failure: actedFailure,
    mayAsk: true,
  };
}
