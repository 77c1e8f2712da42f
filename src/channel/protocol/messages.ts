/**
 * Everything that master and wrapper say to each other. State flows as assignments down and reports up; calls run
 * beside them. A message is plain JSON, and it may be lost, late or repeated when the connection breaks. So state is
 * numbered and sent again. Bytes travel as a frame's body.
 */
import { z } from 'zod';
import { configurationSchema } from '../../model/configuration.js';
import { portProtocolSchema } from '../../model/fields/ports.js';
import { secretSourceSchema } from '../../model/fields/secret.js';
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
import { KEPT_EXITS, pastRunSchema } from '../../model/run/past-exit.js';
import { byteLengthWithin, cutToBytes } from '../../model/words.js';

/** Raised when a message changes its meaning. A peer with another number is refused with a clear message. */
export const PROTOCOL_VERSION = 1;

/** How often a wrapper beats. */
export const BEAT_EVERY_MS = 2000;

/**
 * The limits for everything that a node says, so that no node fills the master's memory. A node cuts its texts to these
 * limits; the master ends the connection of a node that does not.
 */
export const BOUNDS = {
  /** Bytes of a sentence for a person: messages, reasons, problems. */
  sentenceBytes: 2048,
  refusedSentenceBytes: 65_536,
  addressBytes: 1024,
  versionBytes: 256,
  signalBytes: 64,
  causeBytes: 256,
  runtimes: 64,
  /** How many reports one message holds. */
  reports: 500,
  /** How many samples one message holds, and how many instances a hello names. */
  instances: 20_000,
  hashBytes: 64,
  serviceBytes: 64,
  certificateChars: 10_000,
  masters: 16,
} as const;

/** Text of at most so many bytes in UTF-8. */
function textWithin(mostBytes: number) {
  return z
    .string()
    .refine((text) => byteLengthWithin(text, mostBytes), { error: `must be at most ${mostBytes} bytes` });
}

/** A sentence for a person. A longer one is cut. */
const sentence = textWithin(BOUNDS.refusedSentenceBytes).transform((text) =>
  cutToBytes(text, BOUNDS.sentenceBytes),
);

export const resolvedTemplateSchema = z.object({
  group: nameSchema,
  name: nameSchema,
  priority: z.int(),
  /** The digest of the tree to install; null while the master has no such template. */
  digest: z.string().nullable(),
  /**
   * Why there is no digest, or why a newer digest may come soon, for a person. Absent when there is no such directory,
   * and when the digest is the newest.
   */
  problem: z.string().optional(),
});

/** The address of the master's API. */
export const masterAddressSchema = z.object({
  nodeId: nameSchema,
  address: z.string(),
  port: z.int(),
  apiPort: z.int(),
  /**
   * Present when the API speaks TLS: the authority (PEM) to check its certificate with; null when the operator brought
   * a certificate of another authority.
   */
  apiTls: z.object({ authority: z.string().max(BOUNDS.certificateChars).nullable() }).optional(),
});
export type MasterAddress = z.output<typeof masterAddressSchema>;

/**
 * A master of a cluster that has several masters, and the `host:port` of its cluster port. Its certificate names
 * `nodeId`.
 */
export const masterPeerSchema = z.object({
  nodeId: nameSchema,
  clusterAddress: textWithin(BOUNDS.addressBytes),
});
/** All masters of the cluster that are up. */
export const masterPeersSchema = z.array(masterPeerSchema).max(BOUNDS.masters);

/** The call by which a node is told that the list of masters has changed. Its parameter is `masterPeersSchema`. */
export const TAKE_MASTERS = 'take-masters';

/**
 * The part of the feed for one instance: its wanted state on its node. The content of the revision is sent beside it,
 * once per connection.
 */
export const assignmentSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  revision: z.string(),
  goal: goalSchema,
  restartToken: desiredSchema.shape.restartToken,
  port: placementSchema.shape.port,
  ports: placementSchema.shape.ports,
  hostAddress: z.string(),
  templates: z.array(resolvedTemplateSchema),
  /** The parameters of a run, beside `environmentVariables`. Absent: none. */
  environment: z.record(z.string(), z.string()).optional(),
  /** The secrets that it needs: the version of each by name; null: the master has none. Absent: it needs none. */
  secrets: z.record(z.string(), z.string().nullable()).optional(),
  /** The key with which the instance may PUT its own state. */
  apiKey: z.string(),
});
export type Assignment = z.output<typeof assignmentSchema>;

const { state, installed, pid, restarts, exitCode, keepsFailing, gone } = storedStatusSchema.shape;

const endSchema = pastRunSchema.omit({ wasAsked: true, output: true }).extend({
  signal: textWithin(BOUNDS.signalBytes).nullable(),
  cause: textWithin(BOUNDS.causeBytes).optional(),
});

/**
 * Everything that a wrapper knows of one instance. A report is complete, so that only the latest matters. The fields
 * that become part of the record have the record's schema, so that the next start can read every record.
 */
export const reportSchema = z.object({
  id: instanceIdSchema,
  /** The newest request to (re)start that the node has acted on. Later requests may not have reached it. */
  restartToken: desiredSchema.shape.restartToken,
  /** The content by which the node judges the run. Absent: the node is of an older version. */
  revision: textWithin(BOUNDS.hashBytes).optional(),
  state,
  reason: reasonSchema.nullable(),
  message: sentence.nullable(),
  /** The warning, as in the status; absent: there is nothing to warn of. */
  warning: sentence.optional(),
  /** The templates of the run that is up. Absent: nothing is up, or it has no templates. */
  installed,
  pid,
  restarts,
  exitCode,
  exitSignal: textWithin(BOUNDS.signalBytes).nullable(),
  /** With reason `port-busy`: the port that another program on the node holds. */
  busyPort: placementSchema.shape.port,
  /** The protocol of `busyPort`; absent where the node cannot tell. */
  busyProtocol: portProtocolSchema.optional(),
  /** As in the status. */
  keepsFailing,
  keepsPort: z.literal(true).optional(),
  /** The last ends that nobody asked for, newest first. Absent: there were none, or the node does not tell them. */
  ends: z.array(endSchema).max(KEPT_EXITS).optional(),
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

/** The number of a message or call on one connection. */
const ordinal = z.int().min(0);

const revisionsSchema = z.record(z.string(), configurationSchema);

/**
 * The secrets that the assignments of a message name, by name. The node keeps them.
 */
export const sentSecretSchema = z.object({ version: z.string(), source: secretSourceSchema });
const sentSecretsSchema = z.record(z.string(), sentSecretSchema);
export type SentSecrets = z.output<typeof sentSecretsSchema>;

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
    /** Why the node does not enforce limits of RAM and CPU; null: it enforces them. Absent: the node does not say. */
    advisoryLimits: sentence.nullable().optional(),
    /** The fields of configurations that the node carries out, of those that older versions pass over. */
    knows: z.array(nameSchema).max(BOUNDS.runtimes).optional(),
    /** The assignments that the node still has from before: hash by instance id. Absent: none, or too many to name. */
    held: heldSchema.optional(),
    /**
     * The newest revision of the master's store that the node was told of. Absent: none, or the node takes any store.
     */
    seen: ordinal.optional(),
    /** The line of that store (`StoreLine`). Absent: the first line. */
    line: ordinal.optional(),
  }),
  z.object({ type: z.literal('beat') }),
  /** Sent again until acknowledged. `sequence` grows by one with every status message of a connection. */
  z.object({
    type: z.literal('status'),
    sequence: ordinal,
    reports: z.array(reportSchema).max(BOUNDS.reports),
  }),
  /** Sent when the node's runtimes have changed. */
  z.object({ type: z.literal('offer'), runtimes: offersSchema }),
  /** All usage that the node measured. Sent every few seconds; a lost message is not repeated. */
  z.object({ type: z.literal('usage'), samples: z.array(usageSampleSchema).max(BOUNDS.instances) }),
  /** The node stops in order and will be back: its instances keep their state for a while. */
  z.object({ type: z.literal('bye') }),
  // master -> wrapper
  z.object({
    type: z.literal('welcome'),
    protocol: z.int(),
    master: masterAddressSchema,
    /**
     * The number of the master's term as leader. A node refuses a smaller number than it has seen. Absent: there is one
     * master, and no other master can have its store.
     */
    epoch: ordinal.optional(),
    /** The masters that are up. Absent: there is one master. */
    masters: masterPeersSchema.optional(),
  }),
  z.object({
    type: z.literal('refused'),
    reason: z.string(),
    /** True when the refusal does not end by itself: a person must change something. Absent: it may end. */
    isFinal: z.boolean().optional(),
    /** True when the node has seen more than this master: another master may lead. */
    isBehind: z.boolean().optional(),
    /** Given when this master does not lead. Null: nobody leads now. Absent: the refusal has another reason. */
    leader: masterPeerSchema.nullable().optional(),
    masters: masterPeersSchema.optional(),
  }),
  /**
   * Everything that the node should hold. The node removes every other instance that is not in `unchanged`. The
   * numbering starts here.
   */
  z.object({
    type: z.literal('snapshot'),
    sequence: z.int(),
    assignments: z.array(assignmentSchema),
    /**
     * The instances whose `held` hash is still right, and those whose record the master cannot read. The node keeps
     * them as they are. Absent: none.
     */
    unchanged: z.array(instanceIdSchema).optional(),
    revisions: revisionsSchema,
    /** Absent: none. */
    secrets: sentSecretsSchema.optional(),
    /** The revision of the master's store that the snapshot shows. */
    store: ordinal,
    /** The line of that store (`StoreLine`). Absent: the first line. */
    line: ordinal.optional(),
  }),
  /**
   * The changes since the message before. After a gap in `sequence` the wrapper reconnects, which brings a snapshot.
   */
  z.object({
    type: z.literal('delta'),
    sequence: z.int(),
    put: z.array(assignmentSchema),
    drop: z.array(instanceIdSchema),
    revisions: revisionsSchema,
    secrets: sentSecretsSchema.optional(),
    /** The revision of the master's store, as in a snapshot. */
    store: ordinal,
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
  /** Carries a piece of a byte stream in the frame's body. */
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
