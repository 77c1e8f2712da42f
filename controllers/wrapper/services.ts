/**
 * The calls that a wrapper answers to its master: logs, terminals and standard input of instances, how their last runs
 * ended, and what the node holds.
 */

import type { Services } from '../../src/channel/protocol/calls.js';
import { descriptionServices } from '../../src/channel/services/instance-description.js';
import { instanceServices } from '../../src/channel/services/instance-streams.js';
import { terminalServices } from '../../src/channel/services/instance-terminals.js';
import { leftDirectoryServices } from '../../src/channel/services/left-directories.js';
import type { LogPart } from '../../src/channel/services/log-ranges.js';
import { prefetchServices } from '../../src/channel/services/template-relay.js';
import type { LogRange } from '../../src/logs/log-range.js';
import { DroverError } from '../../src/model/errors.js';
import type { SendableSignal } from '../../src/model/plain/sendable-signals.js';
import type { Attachment, TerminalSize } from '../../src/model/run/attachment.js';
import type { DescribedExit, InstanceDescription } from '../../src/model/run/instance-description.js';
import type { OutputSpan, PastRun } from '../../src/model/run/past-exit.js';
import type { StopTo } from '../../src/model/stopping.js';
import type { Runtime } from '../../src/runtime/runtime.js';
import type { NodeParts } from './parts.js';
import type { ProcessSupervisor } from './process-supervisor/reconciler.js';

export function wrapperServices(parts: NodeParts, supervisor: ProcessSupervisor): Services {
  const { installation, left, prefetch } = parts;
  return {
    ...instanceServices({
      readLogs: (id, lines) => installation.readLogs(id, lines),
      followLogs: (id, position, signal) => installation.followLogs(id, position, signal),
      searchLog: (id, query, signal) => installation.searchLog(id, query, signal),
      readLogRange: (id, part) => readLogRange(parts, id, part),
      readLogTimes: (id, from, to) => installation.readLogTimes(id, from, to),
      writeStdin: (id, bytes) => writeStdin(parts, id, bytes),
      sendSignal: (id, signal, to) => sendSignal(parts, id, signal, to),
    }),
    ...terminalServices((id, size) => attach(parts, id, size)),
    ...prefetchServices((digests) => prefetch.fetch(digests)),
    ...leftDirectoryServices((id) => left.list(id)),
    ...descriptionServices((id, lines) => describe(parts, supervisor, id, lines)),
  };
}

async function describe(
  { handles, installation, clock }: NodeParts,
  supervisor: ProcessSupervisor,
  id: string,
  lines: number,
): Promise<InstanceDescription | undefined> {
  const description = supervisor.describe(id);
  if (description === undefined) return undefined;
  const exits = await describePastRuns(handles.get(id)?.exits ?? [], clock.now(), (span) =>
    installation.readOutput(id, span, lines),
  );
  return { ...description, exits };
}

async function readLogRange(
  { handles, installation }: NodeParts,
  id: string,
  { previous, ...part }: LogPart,
): Promise<LogRange> {
  const within = previous ? previousOutput(id, handles.get(id)) : undefined;
  return installation.readLogRange(id, { ...part, within });
}

async function writeStdin(parts: NodeParts, id: string, bytes: Buffer): Promise<void> {
  const { runtime, run } = runningOf(parts, id, 'reads no commands');
  await runtime.write({ instanceId: id, run }, bytes);
}

async function sendSignal(parts: NodeParts, id: string, signal: SendableSignal, to: StopTo): Promise<void> {
  const { runtime, run } = runningOf(parts, id, 'gets no signal');
  await runtime.signal({ instanceId: id, run }, signal, to);
  parts.logger.info({ instance: id, signal, to }, `${signal} was sent to ${id} on request`);
}

async function attach(parts: NodeParts, id: string, size: TerminalSize): Promise<Attachment> {
  const { runtime, run } = runningOf(parts, id, 'has no terminal');
  if (runtime.attach === undefined)
    throw new DroverError(
      'DRV_INSTANCE_NOT_ATTACHABLE',
      `instance ${id} cannot be attached to: its runtime ${runtime.key} shows no terminals`,
    );
  return await runtime.attach({ instanceId: id, run }, size);
}

/**
 * The runtime and the run of an instance that is up. Throws DRV_INSTANCE_NOT_RUNNING, with a message that ends with
 * `lack`, such as "has no terminal".
 */
function runningOf(
  { handles, runtimes }: NodeParts,
  id: string,
  lack: string,
): { readonly runtime: Runtime; readonly run: number } {
  const handle = handles.get(id);
  const runtime = runtimes.get(handle?.runtime ?? '');
  if (handle?.phase.is !== 'up' || runtime === undefined)
    throw new DroverError('DRV_INSTANCE_NOT_RUNNING', `instance ${id} is not running, so it ${lack}`);
  return { runtime, run: handle.run };
}

/**
 * Describes past runs in the given order, newest first. `now`: Unix milliseconds. `read` reads the last lines of a run;
 * unreadable lines count as gone, because an exit is useful without its lines.
 */
export function describePastRuns(
  runs: readonly PastRun[],
  now: number,
  read: (span: OutputSpan) => Promise<{ readonly lines: readonly string[]; readonly isKept: boolean }>,
): Promise<DescribedExit[]> {
  return Promise.all(
    runs.map(async ({ output, ...past }): Promise<DescribedExit> => {
      const told = { ...past, agoMs: Math.max(0, now - past.at) };
      if (output === null) return { ...told, lastLines: [], output: 'unknown' };
      const { lines, isKept } = await read(output).catch(() => ({ lines: [], isKept: false }));
      return { ...told, lastLines: [...lines], output: isKept ? 'known' : 'gone' };
    }),
  );
}

/**
 * The place of the output of the run before the present run. When no run is up, the last run counts as the present one.
 * Throws DRV_RUN_UNKNOWN.
 */
function previousOutput(
  id: string,
  handle: { readonly run: number; readonly exits: readonly PastRun[] } | undefined,
): OutputSpan {
  const previous = handle?.exits.find(({ run }) => run < handle.run);
  if (previous === undefined)
    throw new DroverError('DRV_RUN_UNKNOWN', `its node knows of no earlier run of instance ${id}`);
  if (previous.output === null)
    throw new DroverError(
      'DRV_RUN_UNKNOWN',
      `where the output of run ${previous.run} of instance ${id} ends is not known: it ended while nobody watched`,
    );
  return previous.output;
}
