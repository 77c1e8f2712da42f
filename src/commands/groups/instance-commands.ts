/** `instance ...`: shows instances, and changes what is wanted of them. */
import { type Command, InvalidArgumentError } from 'commander';
import { DEFAULT_LOG_LINES, MAX_LOG_LINES } from '../../api/routes/instance-schemas.js';
import { requireProcess, stdinCommand } from '../../channel/services/stdin-command.js';
import { renderInstanceExplanation } from '../../explain/render.js';
import type { LogPoint } from '../../logs/log-batch.js';
import { DroverError, messageOf } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import { countText } from '../../model/words.js';
import { detailsOf, infoOf, visibleInstances } from '../../operations/instance-details.js';
import { changeLifecycle, deleteInstance } from '../../operations/instance-lifecycle.js';
import { type InstanceLog, readInstanceLog } from '../../operations/instance-log.js';
import { logPointsProblem, parseLogPoint } from '../../operations/log-point.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';
import { findConfiguration, findInstance, requireInstance } from '../find.js';
import { addressOf, byConfiguration, describeInstance, INSTANCE_HEAD, instanceRow } from './instance-text.js';

const MAX_CREATED = 100;
/** The most rows of a table. With `-o json` there is no limit. */
const MAX_ROWS = 1000;

const LIFECYCLE = {
  stop: 'end the process and keep the instance',
  start: 'start a stopped instance',
  restart: 'end the process and start it anew',
} as const;

export function addInstanceCommands(program: Command, context: CommandContext): void {
  const group = program.command('instance').description('instances: the processes that run');
  addReading(group, context);
  addCreate(group, context);
  for (const target of ['stop', 'start', 'restart'] as const) addLifecycle(group, context, target);
  addDelete(group, context);
  addExecute(group, context);
}

function addReading(group: Command, context: CommandContext): void {
  const { dependencies } = context;
  addCommand(group, 'list [configuration]', 'all instances, or those of one configuration').action(
    (name: string | undefined, options: SharedOptions) => list(context, name, options),
  );
  addCommand(group, 'info <id>', 'all that is known of an instance').action(
    (id: string, options: SharedOptions) => {
      const record = findInstance(dependencies, id);
      return show(
        context,
        options,
        () => detailsOf(record, dependencies),
        () => describeInstance(record, dependencies),
      );
    },
  );
  addCommand(group, 'why <id>', 'why an instance is as it is, and what happens next').action(
    async (id: string, options: SharedOptions) => {
      requireInstance(dependencies, id);
      const explanation = await dependencies.explainer.instance(id);
      await show(
        context,
        options,
        () => explanation,
        () => renderInstanceExplanation(explanation),
      );
    },
  );
  addLogs(group, context);
}

interface LogsOptions extends SharedOptions {
  readonly lines?: number;
  readonly since?: LogPoint;
  readonly until?: LogPoint;
  readonly timestamps?: true;
  readonly previous?: true;
}

function addLogs(group: Command, context: CommandContext): void {
  const { dependencies } = context;
  addCommand(group, 'logs <id>', 'the last lines that an instance wrote')
    .option(
      '-n, --lines <count>',
      `how many, up to ${MAX_LOG_LINES}; default ${DEFAULT_LOG_LINES}, or ${MAX_LOG_LINES} with --since, --until or --previous`,
      wholeNumber(MAX_LOG_LINES),
    )
    .option(
      '--since <when>',
      'not what came before: a time (2026-01-31T12:00:00Z), an age (10m), a line number',
      logPoint,
    )
    .option('--until <when>', 'not what came after, in the same forms', logPoint)
    .option('-t, --timestamps', 'when each line was written, to the second')
    .option('--previous', 'only what the run before the present one wrote')
    .action(async (id: string, options: LogsOptions) => {
      const record = findInstance(dependencies, id);
      const { since, until, timestamps = false, previous = false } = options;
      const problem = logPointsProblem(since, until);
      if (problem !== undefined) throw new DroverError('DRV_COMMAND_INVALID', `--until ${problem}`);
      const isPart = since !== undefined || until !== undefined || previous;
      const lines = options.lines ?? (isPart ? MAX_LOG_LINES : DEFAULT_LOG_LINES);
      const log = await readInstanceLog(dependencies, record, { lines, since, until, timestamps, previous });
      await show(
        context,
        options,
        () => jsonOf(log),
        () => logText(log),
      );
    });
}

function jsonOf({ instanceId, ...log }: InstanceLog): unknown {
  return { instanceId, ...log };
}

/** The lines, after what their reader should know of those that are missing. */
function logText({ lines, times, range, firstLine = 1, untimedLines = 0 }: InstanceLog): string {
  const notes = [
    ...(untimedLines === 0
      ? []
      : [`[drover] when ${countText(untimedLines, 'line was', 'lines were')} written is not known`]),
    ...(range === undefined || range.first >= firstLine || lines.length === 0
      ? []
      : [
          `[drover] lines ${range.first} to ${firstLine - 1} are left out: see them with --until ${firstLine - 1}`,
        ]),
  ];
  const shown = times === undefined ? lines : lines.map((line, index) => `${times[index] ?? '-'} ${line}`);
  return [...notes, ...shown].join('\n');
}

function logPoint(text: string): LogPoint {
  const point = parseLogPoint(text);
  if ('problem' in point) throw new InvalidArgumentError(`It ${point.problem}.`);
  return point;
}

async function list(
  context: CommandContext,
  name: string | undefined,
  options: SharedOptions,
): Promise<void> {
  const { dependencies } = context;
  const records = [...visibleInstances(dependencies)]
    .filter(({ configurationName }) => name === undefined || configurationName === name)
    .sort(byConfiguration);
  // Instances may outlive their configuration.
  if (name !== undefined && records.length === 0) findConfiguration(dependencies, name);
  const data = (): unknown => records.map((record) => infoOf(record, dependencies));
  await show(context, options, data, async () => {
    const now = dependencies.clock.now();
    const rows = records.slice(0, MAX_ROWS).map((record) => instanceRow(record, now));
    const none = name === undefined ? 'there are no instances' : `${name} has no instances`;
    const table = await tableOf(context, INSTANCE_HEAD, rows, none);
    const more = records.length - rows.length;
    return more === 0
      ? table
      : `${table}\n... and ${more} more: name a configuration, or use -o json for all`;
  });
}

function addCreate(group: Command, context: CommandContext): void {
  const { dependencies, signal } = context;
  addCommand(group, 'create', `make new instances of a configuration, ${MAX_CREATED} at once at most`)
    .argument('<configuration>')
    .argument('[count]', 'default 1', wholeNumber(MAX_CREATED), 1)
    .action(async (name: string, count: number, options: SharedOptions) => {
      findConfiguration(dependencies, name);
      const created: InstanceRecord[] = [];
      while (created.length < count) {
        if (signal.aborted) throw incomplete(created, count, new Error('the caller stopped waiting'));
        try {
          created.push(await dependencies.instanceWrites.create(name));
        } catch (error) {
          throw incomplete(created, count, error);
        }
      }
      const data = (): unknown => created.map((record) => infoOf(record, dependencies));
      await show(context, options, data, () => created.map(sentenceOf).join('\n'));
    });
}

/** Adds to the error of a creation the instances that were made before it. */
function incomplete(created: readonly InstanceRecord[], count: number, error: unknown): unknown {
  if (created.length === 0) return error;
  const code = error instanceof DroverError ? error.code : 'DRV_COMMAND_INVALID';
  const ids = created.map(({ id }) => id).join(', ');
  const message = `${created.length} of ${count} instances were created (${ids}), then: ${messageOf(error)}`;
  return new DroverError(code, message, { cause: error });
}

function sentenceOf(record: InstanceRecord): string {
  const { id, configurationName, placement, status } = record;
  const made = `created ${id} (${configurationName})`;
  if (placement === null) return `${made}, waiting: ${status.message ?? 'not placed yet'}`;
  const address = addressOf(record);
  return `${made} on node ${placement.nodeId}${address === undefined ? '' : `, ${address}`}`;
}

function addLifecycle(group: Command, context: CommandContext, target: keyof typeof LIFECYCLE): void {
  const { dependencies } = context;
  addCommand(group, `${target} <id>`, LIFECYCLE[target]).action(
    async (id: string, options: SharedOptions) => {
      findInstance(dependencies, id);
      const message = await changeLifecycle(dependencies, id, target);
      await show(
        context,
        options,
        () => ({ message, instanceId: id, target }),
        () => message,
      );
    },
  );
}

function addDelete(group: Command, context: CommandContext): void {
  const { dependencies } = context;
  const about = 'end the process and remove the instance; its directory too, unless it is static';
  addCommand(group, 'delete <id>', about).action(async (id: string, options: SharedOptions) => {
    requireInstance(dependencies, id);
    const message = await deleteInstance(dependencies, id);
    await show(
      context,
      options,
      () => ({ message, instanceId: id }),
      () => message,
    );
  });
}

function addExecute(group: Command, context: CommandContext): void {
  const { dependencies } = context;
  const about = 'write a line to the standard input of an instance, exactly as typed';
  addCommand(group, 'execute <id> <command...>', about).action(
    async (id: string, words: readonly string[], options: SharedOptions) => {
      const record = findInstance(dependencies, id);
      requireProcess(record);
      const command = words.join(' ');
      await dependencies.streams.writeStdin(record, stdinCommand(command, 'command'));
      const message = `command sent to instance ${id}`;
      await show(
        context,
        options,
        () => ({ message, instanceId: id, command }),
        () => message,
      );
    },
  );
}

/** Returns a parser of whole numbers from 1 to `most`. */
function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}
