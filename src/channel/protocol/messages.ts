/**
 * Everything that master and wrapper say to each other. State flows as assignments down and reports up; calls run
 * beside them. A message is plain JSON and may be lost, late or repeated with its connection, so state is numbered and
 * sent again. Bytes travel as a frame's body.
 */
import { z } from 'zod';
import { configurationSchema } from '../../model/configuration.js';
import {
  desiredSchema,
  goalSchema,
  placementSchema,
  reasonSchema,
  storedStatusSchema,
} from '../../model/instance.js';
import { instanceIdSchema, nameSchema } from '../../model/names.js';
import { nodeCapacitySchema, runtimeOfferSchema } from '../../model/node.js';
import { usageSampleSchema } from '../../model/run/instance-usage.js';
import { byteLengthWithin, cutToBytes } from '../../model/words.js';

/** Raised when a message changes its meaning. A peer with another number is refused with a clear line. */
export const PROTOCOL_VERSION = 1;

/** How often a wrapper beats. */
export const BEAT_EVERY_MS = 2000;

/**
 * The most of each thing that a node says, so that no node fills the master's memory. A node cuts what it says to
 * these; the connection of one that does not is ended.
 */
export const BOUNDS = {
  /** Bytes of a sentence for a person: messages, reasons, problems. */
  sentenceBytes: 2048,
  refusedSentenceBytes: 65_536,
  addressBytes: 1024,
  versionBytes: 256,
  signalBytes: 64,
  runtimes: 64,
  /** Reports in one message. */
  reports: 500,
  /** Samples in one message, and instances that hello names. */
  instances: 20_000,
  hashBytes: 64,
  serviceBytes: 64,
  certificateChars: 10_000,
  masters: 16,
} as const;

/** Text of so many bytes of UTF-8 at most. */
function textWithin(mostBytes: number) {
  return z.string().refine((text) => byteLengthWithin(text, mostBytes), {
    error: `must be at most ${mostBytes} bytes`,
  });
}

/** A longer one is cut, because older nodes do not cut what a runtime said. */
const sentence = textWithin(BOUNDS.refusedSentenceBytes).transform((text) =>
  cutToBytes(text, BOUNDS.sentenceBytes),
);

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

/** Where the master is, and how its API is reached. */
export const masterAddressSchema = z.object({
  nodeId: nameSchema,
  address: z.string(),
  port: z.int(),
  apiPort: z.int(),
  /**
   * The API speaks TLS: PEM of the authority to check it with, null where the operator has a certificate of others.
   * Absent: it does not.
   */
  apiTls: z.object({ authority: z.string().max(BOUNDS.certificateChars).nullable() }).optional(),
});
export type MasterAddress = z.output<typeof masterAddressSchema>;

/** One of several masters, and where its cluster port is: `host:port`. Its certificate names `nodeId`. */
export const masterPeerSchema = z.object({
  nodeId: nameSchema,
  clusterAddress: textWithin(BOUNDS.addressBytes),
});
/** All masters of the cluster that are up. */
export const masterPeersSchema = z.array(masterPeerSchema).max(BOUNDS.masters);

/** The call by which a node hears that the masters are others than it was told: `masterPeersSchema`. */
export const TAKE_MASTERS = 'take-masters';

/** What one node should hold for one instance. The content of its revision is sent once per connection, beside it. */
export const assignmentSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  revision: z.string(),
  goal: goalSchema,
  restartToken: desiredSchema.shape.restartToken,
  port: placementSchema.shape.port,
  hostAddress: z.string(),
  templates: z.array(resolvedTemplateSchema),
  /** Key with which the instance may PUT its own state. */
  apiKey: z.string(),
});
export type Assignment = z.output<typeof assignmentSchema>;

const portProtocolSchema = z.enum(['tcp', 'udp']);
export type PortProtocol = z.output<typeof portProtocolSchema>;

const { state, pid, restarts, exitCode, gone } = storedStatusSchema.shape;

/**
 * What a wrapper knows of one instance. Always complete, so that only the latest matters. The fields that become part
 * of the record have the record's schema, so that whatever is taken can be read at the next start.
 */
export const reportSchema = z.object({
  id: instanceIdSchema,
  /** The request to (re)start that the node has acted on. Later ones may not have reached it. */
  restartToken: desiredSchema.shape.restartToken,
  state,
  reason: reasonSchema.nullable(),
  message: sentence.nullable(),
  /** As in the status; absent: there is nothing to warn of. */
  warning: sentence.optional(),
  pid,
  restarts,
  exitCode,
  exitSignal: textWithin(BOUNDS.signalBytes).nullable(),
  /** With reason `port-busy`: the port that something else on the node holds. */
  busyPort: placementSchema.shape.port,
  /** Given with `busyPort`; absent where the node cannot tell. */
  busyProtocol: portProtocolSchema.optional(),
  gone,
});
export type Report = z.output<typeof reportSchema>;

const offersSchema = z
  .array(
    runtimeOfferSchema.extend({
      version: textWithin(BOUNDS.versionBytes).nullable(),
      reason: sentence.nullable(),
    }),
  )
  .max(BOUNDS.runtimes);

const heldSchema = z
  .record(instanceIdSchema, textWithin(BOUNDS.hashBytes))
  .refine((held) => Object.keys(held).length <= BOUNDS.instances, {
    error: `must have at most ${BOUNDS.instances} entries`,
  });

/** Numbers messages and calls of one connection. */
const ordinal = z.int().min(0);

const revisionsSchema = z.record(z.string(), configurationSchema);

export const messageSchema = z.discriminatedUnion('type', [
  // wrapper -> master
  z.object({
    type: z.literal('hello'),
    protocol: z.int(),
    nodeId: nameSchema,
    clusterName: nameSchema,
    address: textWithin(BOUNDS.addressBytes),
    version: textWithin(BOUNDS.versionBytes),
    capacity: nodeCapacitySchema,
    runtimes: offersSchema,
    /** Why limits of RAM and CPU do not hold there; null: they hold. Absent: the node does not say. */
    advisoryLimits: sentence.nullable().optional(),
    /** Everything that the node still has from before: hash by instance id. Absent: nothing, or too much to name. */
    held: heldSchema.optional(),
    /** The newest revision of the master's store that the node was told of. Absent: none, or the node takes any. */
    seen: ordinal.optional(),
    /** The line of that store (`StoreLine`). Absent: the first one. */
    line: ordinal.optional(),
  }),
  z.object({ type: z.literal('beat') }),
  /** Sent until acknowledged. `sequence` grows by one with every such message of a connection. */
  z.object({
    type: z.literal('status'),
    sequence: ordinal,
    reports: z.array(reportSchema).max(BOUNDS.reports),
  }),
  /** The offers changed. */
  z.object({ type: z.literal('offer'), runtimes: offersSchema }),
  /** All usage that the node measured. Sent every few seconds, never again. */
  z.object({ type: z.literal('usage'), samples: z.array(usageSampleSchema).max(BOUNDS.instances) }),
  /** The node stops in order and will be back: its instances keep their state for a while. */
  z.object({ type: z.literal('bye') }),
  // master -> wrapper
  z.object({
    type: z.literal('welcome'),
    protocol: z.int(),
    master: masterAddressSchema,
    /**
     * The number of the master's term as leader. A node refuses a smaller one than it has seen. Absent: there is one
     * master, whose store no other one can have.
     */
    epoch: ordinal.optional(),
    /** Absent: there is one master. */
    masters: masterPeersSchema.optional(),
  }),
  z.object({
    type: z.literal('refused'),
    reason: z.string(),
    /** Time does not heal it: somebody must change something. Absent: it may. */
    isFinal: z.boolean().optional(),
    /** The node has seen more than this master: another one may lead. */
    isBehind: z.boolean().optional(),
    /** This master does not lead. Null: nobody does at the moment. Absent: there is another reason. */
    leader: masterPeerSchema.nullable().optional(),
    masters: masterPeersSchema.optional(),
  }),
  /**
   * Everything the node should hold. It removes what is neither in here nor in `unchanged`. The numbering starts here.
   */
  z.object({
    type: z.literal('snapshot'),
    sequence: z.int(),
    assignments: z.array(assignmentSchema),
    /**
     * What hello named as `held` and is still right, and what the master cannot say anew because it cannot read its
     * record. Absent: nothing.
     */
    unchanged: z.array(instanceIdSchema).optional(),
    revisions: revisionsSchema,
    /** The revision of the master's store that this comes from. Version 0.1.0 omits it. */
    store: ordinal.optional(),
    /** The line of that store (`StoreLine`). Absent: the first one. */
    line: ordinal.optional(),
  }),
  /** Changes since the message before. After a gap in `sequence` the wrapper reconnects, which brings a snapshot. */
  z.object({
    type: z.literal('delta'),
    sequence: z.int(),
    put: z.array(assignmentSchema),
    drop: z.array(instanceIdSchema),
    revisions: revisionsSchema,
    /** As in a snapshot. */
    store: ordinal.optional(),
  }),
  z.object({ type: z.literal('status-acknowledged'), sequence: z.int() }),
  // calls, both ways
  z.object({
    type: z.literal('call'),
    id: ordinal,
    service: textWithin(BOUNDS.serviceBytes),
    parameters: z.unknown(),
  }),
  z.object({ type: z.literal('result'), id: ordinal, value: z.unknown() }),
  z.object({
    type: z.literal('failure'),
    id: ordinal,
    code: textWithin(BOUNDS.serviceBytes),
    message: sentence,
  }),
  z.object({ type: z.literal('cancel'), id: ordinal }),
  /** One piece of a byte stream, in the frame's body. */
  z.object({ type: z.literal('chunk'), id: ordinal }),
  z.object({ type: z.literal('end'), id: ordinal }),
  /** The reader took so many bytes, so the sender may send as many more. */
  z.object({ type: z.literal('credit'), id: ordinal, bytes: ordinal }),
]);
export type Message = z.output<typeof messageSchema>;
export type MessageOf<T extends Message['type']> = Extract<Message, { type: T }>;

/** One unit on a transport. */
export interface Frame {
  readonly message: Message;
  readonly body?: Buffer;
}
