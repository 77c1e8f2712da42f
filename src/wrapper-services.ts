/** The calls of its master that a wrapper answers: logs, terminals and standard input of what runs, and what it holds. */
import type { Service } from './channel/protocol/calls.js';
import { descriptionServices } from './channel/services/instance-description.js';
import { instanceServices } from './channel/services/instance-streams.js';
import { terminalServices } from './channel/services/instance-terminals.js';
import { leftDirectoryServices } from './channel/services/left-directories.js';
import type { LogPart } from './channel/services/log-ranges.js';
import { prefetchServices } from './channel/services/template-relay.js';
import type { LogRange } from './logs/log-range.js';
import type { Clock } from './loop/clock.js';
import { DroverError } from './model/errors.js';
import type { Attachment, TerminalSize } from './model/run/attachment.js';
import type { InstanceDescription } from './model/run/instance-description.js';
import type { HandleBook } from './node/handle-book.js';
import type { LeftDirectories } from './node/left-directories.js';
import { describePastRuns, previousOutput } from './node/past-runs.js';
import type { TemplatePrefetch } from './node/template-prefetch.js';
import type { Installation } from './runtime/installation/installation.js';
import type { RuntimeOffers } from './runtime/offers.js';
import type { Runtime } from './runtime/runtime.js';

export interface WrapperServiceNeeds {
  readonly installation: Installation;
  readonly handles: Pick<HandleBook, 'get'>;
  readonly runtimes: Pick<RuntimeOffers, 'get'>;
  readonly prefetch: TemplatePrefetch;
  readonly left: Pick<LeftDirectories, 'list'>;
  /** The supervisor's account of an instance; undefined: it is not held here. */
  readonly describe: (id: string) => Omit<InstanceDescription, 'exits'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function wrapperServices(needs: WrapperServiceNeeds): ReadonlyMap<string, Service> {
  const { installation, left, prefetch } = needs;
  return new Map([
    ...instanceServices({
      readLogs: (id, lines) => installation.readLogs(id, lines),
      followLogs: (id, position, signal) => installation.followLogs(id, position, signal),
      searchLog: (id, query, signal) => installation.searchLog(id, query, signal),
      readLogRange: (id, part) => readLogRange(needs, id, part),
      readLogTimes: (id, from, to) => installation.readLogTimes(id, from, to),
      writeStdin: (id, bytes) => writeStdin(needs, id, bytes),
    }),
    ...terminalServices((id, size) => attach(needs, id, size)),
    ...prefetchServices(prefetch),
    ...leftDirectoryServices((id) => left.list(id)),
    ...descriptionServices((id, lines) => describe(needs, id, lines)),
  ]);
}

async function describe(
  { describe, handles, installation, clock }: WrapperServiceNeeds,
  id: string,
  lines: number,
): Promise<InstanceDescription | undefined> {
  const description = describe(id);
  if (description === undefined) return undefined;
  const exits = await describePastRuns(handles.get(id)?.exits ?? [], {
    now: clock.now(),
    read: (span) => installation.readOutput(id, span, lines),
  });
  return { ...description, exits };
}

async function readLogRange(
  { handles, installation }: WrapperServiceNeeds,
  id: string,
  { previous, ...part }: LogPart,
): Promise<LogRange> {
  const within = previous ? previousOutput(id, handles.get(id)) : undefined;
  return installation.readLogRange(id, { ...part, within });
}

async function writeStdin(needs: WrapperServiceNeeds, id: string, bytes: Buffer): Promise<void> {
  const { runtime, run } = runningOf(needs, id, 'reads no commands');
  await runtime.write({ instanceId: id, run }, bytes);
}

async function attach(needs: WrapperServiceNeeds, id: string, size: TerminalSize): Promise<Attachment> {
  const { runtime, run } = runningOf(needs, id, 'has no terminal');
  if (runtime.attach === undefined)
    throw new DroverError(
      'DRV_INSTANCE_NOT_ATTACHABLE',
      `instance ${id} cannot be attached to: its runtime ${runtime.key} shows no terminals`,
    );
  return await runtime.attach({ instanceId: id, run }, size);
}

/** Throws DRV_INSTANCE_NOT_RUNNING; `lack` says what follows from that. */
function runningOf(
  { handles, runtimes }: WrapperServiceNeeds,
  id: string,
  lack: string,
): { readonly runtime: Runtime; readonly run: number } {
  const handle = handles.get(id);
  const runtime = runtimes.get(handle?.runtime ?? '');
  if (handle?.process == null || runtime === undefined)
    throw new DroverError('DRV_INSTANCE_NOT_RUNNING', `instance ${id} is not running, so it ${lack}`);
  return { runtime, run: handle.run };
}
