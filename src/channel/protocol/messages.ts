/**
 * Everything that master and wrapper say to each other. State flows as assignments down and reports up; calls run
 * beside them. A message is plain JSON and may be lost, late or repeated with its connection, so state is numbered and
 * sent again. Bytes travel as a frame's body.
 */
import { z } from 'zod';
import { configurationSchema } from '../../model/configuration.js';
import { goalSchema, instanceStateSchema, reasonSchema } from '../../model/instance.js';
import { usageSampleSchema } from '../../model/instance-usage.js';
import { instanceIdSchema, nameSchema } from '../../model/names.js';
import { nodeCapacitySchema, runtimeOfferSchema } from '../../model/node.js';

/** Raised when a message changes its meaning. A peer with another number is refused with a clear line. */
export const PROTOCOL_VERSION = 1;

/** How often a wrapper beats. */
export const BEAT_EVERY_MS = 2000;

export const resolvedTemplateSchema = z.object({
  group: nameSchema,
  name: nameSchema,
  priority: z.int(),
  /** The tree to install, or null while the master has no such template. */
  digest: z.string().nullable(),
  /**
   * Why there is no digest, or why a newer one may come soon, for a person. Absent when there is no such directory, and
   * when the digest is the newest.
   */
  problem: z.string().optional(),
});

/** What one node should hold for one instance. The content of its revision is sent once per connection, beside it. */
export const assignmentSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  revision: z.string(),
  goal: goalSchema,
  restartToken: z.int(),
  port: z.int().nullable(),
  hostAddress: z.string(),
  templates: z.array(resolvedTemplateSchema),
  /** Key with which the instance may PUT its own state. */
  apiKey: z.string(),
});
export type Assignment = z.output<typeof assignmentSchema>;

const portProtocolSchema = z.enum(['tcp', 'udp']);
export type PortProtocol = z.output<typeof portProtocolSchema>;

/** What a wrapper knows of one instance. Always complete, so that only the latest matters. */
const reportSchema = z.object({
  id: instanceIdSchema,
  /** The request to (re)start that the node has acted on. Later ones may not have reached it. */
  restartToken: z.int(),
  state: instanceStateSchema,
  reason: reasonSchema.nullable(),
  message: z.string().nullable(),
  /** As in the status: null when nothing runs, NO_HOST_PID for a container. */
  pid: z.int().nullable(),
  restarts: z.int(),
  exitCode: z.int().nullable(),
  exitSignal: z.string().nullable(),
  /** With reason `port-busy`: the port that something else on the node holds. */
  busyPort: z.int().nullable(),
  /** Given with `busyPort`; absent where the node cannot tell. */
  busyProtocol: portProtocolSchema.optional(),
  /** With goal `remove`: process and working directory are gone. */
  gone: z.boolean(),
});
export type Report = z.output<typeof reportSchema>;

const revisionsSchema = z.record(z.string(), configurationSchema);

export const messageSchema = z.discriminatedUnion('type', [
  // wrapper -> master
  z.object({
    type: z.literal('hello'),
    protocol: z.int(),
    nodeId: nameSchema,
    clusterName: nameSchema,
    address: z.string(),
    version: z.string(),
    capacity: nodeCapacitySchema,
    runtimes: z.array(runtimeOfferSchema),
    /** Why limits of RAM and CPU do not hold there; null: they hold. Absent: the node does not say. */
    advisoryLimits: z.string().nullable().optional(),
    /** Everything that the node still has from before: hash by instance id. Absent: nothing, or too much to name. */
    held: z.record(instanceIdSchema, z.string()).optional(),
  }),
  z.object({ type: z.literal('beat') }),
  /** Sent until acknowledged. `sequence` grows by one with every such message of a connection. */
  z.object({ type: z.literal('status'), sequence: z.int(), reports: z.array(reportSchema) }),
  /** The offers changed. */
  z.object({ type: z.literal('offer'), runtimes: z.array(runtimeOfferSchema) }),
  /** All usage that the node measured. Sent every few seconds, never again. */
  z.object({ type: z.literal('usage'), samples: z.array(usageSampleSchema) }),
  /** The node stops in order and will be back: its instances keep their state for a while. */
  z.object({ type: z.literal('bye') }),
  /** The feed up to `sequence` is on the wrapper's disk. */
  z.object({ type: z.literal('fed'), sequence: z.int() }),
  // master -> wrapper
  z.object({
    type: z.literal('welcome'),
    protocol: z.int(),
    master: z.object({ nodeId: nameSchema, address: z.string(), port: z.int(), apiPort: z.int() }),
  }),
  z.object({
    type: z.literal('refused'),
    reason: z.string(),
    /** Time does not heal it: somebody must change something. Absent: it may. */
    isFinal: z.boolean().optional(),
  }),
  /**
   * Everything the node should hold. It removes what is neither in here nor in `unchanged`. The numbering starts here.
   */
  z.object({
    type: z.literal('snapshot'),
    sequence: z.int(),
    assignments: z.array(assignmentSchema),
    /** What hello named as `held` and is still right. Absent when hello named nothing. */
    unchanged: z.array(instanceIdSchema).optional(),
    revisions: revisionsSchema,
  }),
  /** Changes since the message before. After a gap in `sequence` the wrapper reconnects, which brings a snapshot. */
  z.object({
    type: z.literal('delta'),
    sequence: z.int(),
    put: z.array(assignmentSchema),
    drop: z.array(instanceIdSchema),
    revisions: revisionsSchema,
  }),
  z.object({ type: z.literal('status-acknowledged'), sequence: z.int() }),
  // calls, both ways
  z.object({ type: z.literal('call'), id: z.int(), service: z.string(), parameters: z.unknown() }),
  z.object({ type: z.literal('result'), id: z.int(), value: z.unknown() }),
  z.object({ type: z.literal('failure'), id: z.int(), code: z.string(), message: z.string() }),
  z.object({ type: z.literal('cancel'), id: z.int() }),
  /** One piece of a byte stream, in the frame's body. */
  z.object({ type: z.literal('chunk'), id: z.int() }),
  z.object({ type: z.literal('end'), id: z.int() }),
  /** The reader took so many bytes, so the sender may send as many more. */
  z.object({ type: z.literal('credit'), id: z.int(), bytes: z.int() }),
]);
export type Message = z.output<typeof messageSchema>;
export type MessageOf<T extends Message['type']> = Extract<Message, { type: T }>;

/** One unit on a transport. */
export interface Frame {
  readonly message: Message;
  readonly body?: Buffer;
}
