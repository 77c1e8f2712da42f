/**
 * The byte services of an instance, over the channel: read its log, write to its standard input. The wrapper's half
 * answers, the master's half asks the node that holds the instance. They change no state.
 */
import { z } from 'zod';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import { instanceIdSchema } from '../model/names.js';
import type { CallPeer, Service } from './calls.js';

const READ_LOGS = 'read-logs';
const WRITE_STDIN = 'write-stdin';

const readLogsSchema = z.object({ id: instanceIdSchema, lines: z.int().min(1).max(1000) });
const linesSchema = z.object({ lines: z.array(z.string()), totalLines: z.int() });
const writeStdinSchema = z.object({ id: instanceIdSchema });

export type LogLines = z.output<typeof linesSchema>;

/** The wrapper's half: what it does for the master. */
export function instanceServices(node: {
  readLogs(id: string, lines: number): Promise<LogLines>;
  /** Throws DRV_INSTANCE_NOT_RUNNING and the runtime's errors. */
  writeStdin(id: string, bytes: Buffer): Promise<void>;
}): ReadonlyMap<string, Service> {
  return new Map<string, Service>([
    [
      READ_LOGS,
      async (parameters) => {
        const { id, lines } = readLogsSchema.parse(parameters);
        return node.readLogs(id, lines);
      },
    ],
    [
      WRITE_STDIN,
      async (parameters, { body }) => {
        const { id } = writeStdinSchema.parse(parameters);
        await node.writeStdin(id, body ?? Buffer.alloc(0));
      },
    ],
  ]);
}

/** The master's half. Throws DRV_NODE_DISCONNECTED, and what the node answers. */
export class LogRelay {
  readonly #callsOf: (nodeId: string) => CallPeer;

  constructor(callsOf: (nodeId: string) => CallPeer) {
    this.#callsOf = callsOf;
  }

  /** An instance that has no node yet has no lines yet. */
  async readLogs(record: InstanceRecord, lines: number): Promise<LogLines> {
    const nodeId = record.placement?.nodeId ?? record.home?.nodeId;
    if (nodeId === undefined) return { lines: [], totalLines: 0 };
    return linesSchema.parse(await this.#callsOf(nodeId).call(READ_LOGS, { id: record.id, lines }));
  }

  async writeStdin(record: InstanceRecord, bytes: Buffer): Promise<void> {
    if (record.placement === null)
      throw new DroverError(
        'DRV_INSTANCE_NOT_RUNNING',
        `instance ${record.id} is not running: it has no node yet`,
      );
    await this.#callsOf(record.placement.nodeId).call(WRITE_STDIN, { id: record.id }, { body: bytes });
  }
}
