/** The record of a handle: what outlives the daemon of an instance that this node holds or held. */
import { z } from 'zod';
import { resolvedTemplateSchema } from '../channel/protocol/messages.js';
import { namedPortsSchema } from '../model/fields/ports.js';
import { instanceIdSchema, nameSchema } from '../model/names.js';
import { exitSchema, pastRunSchema } from '../model/run/past-exit.js';
import { runIdentitySchema } from '../model/run/run-identity.js';
import { stopSettingsSchema, stopSignalSchema } from '../model/stopping.js';

const stampSchema = z.object({ pid: z.int(), startTime: z.number() });

const stopBegunSchema = z.object({
  /** The last signal that the runtime took; null: the stop command. */
  signal: stopSignalSchema.nullable(),
  /** The main processes, while they alone have got `signal`; absent or empty: everything of the run has got it. */
  mains: z.array(stampSchema).readonly().optional(),
  /** Unix milliseconds at which the stop began. */
  begunAt: z.number(),
});
export type StopBegun = Readonly<z.output<typeof stopBegunSchema>>;

/** The result of the readiness check of one run. */
const readinessSchema = z.object({
  run: z.int(),
  /** False: the run was late; it may still become ready. */
  isReady: z.boolean(),
  /** The reason why the run was late, for a person. */
  problem: z.string().nullable(),
});

/** The last complete install of an instance that has templates. */
const installedSchema = z.object({
  /** The restart request that the install carried out. */
  restartToken: z.int(),
  /** The trees that the directory was made from; each has a digest. */
  templates: z.array(resolvedTemplateSchema).readonly(),
  /** The reason, for a person, why known newer trees could not be used; null: there were no newer trees. */
  behind: z.string().nullable(),
  /** When it was made, Unix milliseconds. Absent: an earlier version made it. */
  at: z.number().optional(),
  /** The ports that its files were made with. Absent: unknown, because an earlier version made the install. */
  port: z.int().nullable().optional(),
  ports: namedPortsSchema.optional(),
});

/** How far the hooks of an instance are. */
const hooksSchema = z.object({
  /** The last hook that was started; its run is the present one, or an earlier one. */
  present: z
    .object({
      run: z.int(),
      kind: z.enum(['prepare', 'after']),
      index: z.int(),
      /** The one behind it; null: it is the last one. */
      next: z.int().nullable(),
      /** Such as `prepare 1 (npm ci)`. */
      name: z.string(),
      timeoutMs: z.number(),
    })
    .nullable(),
  /** How many `prepare` hooks are done in the present directory. */
  done: z.int(),
  /** The commands and templates that the hooks of the last install were run for; null: none were. */
  preparedFor: z.string().nullable(),
  /** The first `after` hook that the last run still owes; null: none. */
  owed: z.int().nullable(),
  /** How many runs were hooks. */
  runs: z.int(),
});
/** The hooks of an instance of which none was ever run. */
export const NO_HOOKS = { present: null, done: 0, preparedFor: null, owed: null, runs: 0 };

/** The run that is ended because it was not alive, and the cause in words. */
const givenUpSchema = z.object({ run: z.int(), cause: z.string() });

/** The result of the look at the port of one run. */
const listensSchema = z.object({
  run: z.int(),
  /** Null: the run listens on its port, or this machine does not show it. Else a warning for a person. */
  missing: z.string().nullable(),
});

export const handleRecordSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  static: z.boolean(),
  runtime: nameSchema,
  /** Number of the current or last start; 0: never started here. */
  run: z.int(),
  /** True when the phase is `down` and the directory is prepared. */
  isPrepared: z.boolean(),
  /** The live process; null unless the phase is `up`. */
  process: runIdentitySchema.nullable(),
  /**
   * The time at which the start of `run` was requested, Unix milliseconds; null: unknown, because that start never
   * reached the disk.
   */
  begunAt: z.number().nullable(),
  /** The end of the last process. */
  exit: exitSchema.pick({ code: true, signal: true, at: true, cause: true }).nullable(),
  /** The last exits, newest first, for `instance why`. */
  exits: z.array(pastRunSchema).readonly(),
  /** Restarts after unrequested exits, over the instance's life. */
  restarts: z.int(),
  /** Failures in a row (exits before 60 s, failed installs and starts); they decide the delay before the next try. */
  streak: z.int(),
  /** The restart request that the node has carried out. */
  restartToken: z.int(),
  /** How the instance is stopped, also when its configuration is no longer known. */
  stop: stopSettingsSchema,
  /** The stop ladder under way; null: there is no stop. */
  stopping: stopBegunSchema.nullable(),
  /** True when the last run ended without a stop request (`LastEnd` is `unasked` or `final`). */
  hasEnded: z.boolean(),
  /** True when `LastEnd` is `final`. */
  hasFinished: z.boolean(),
  /** The result of the readiness check; null while the check is under way, and for runs without a check. */
  readiness: readinessSchema.nullable(),
  /** The warnings of the last install, for a person; null: there were none. */
  warning: z.string().nullable(),
  /** The number of the first line in the log that `run` wrote. Kept only when the readiness check looks for a line. */
  logFrom: z.int(),
  /**
   * The port that `run` was started with; null: the run has no port. Absent: unknown, because the start of `run`
   * never reached the disk.
   */
  port: z.int().nullable().optional(),
  /** The named ports of `run`, where it has some and `port` is known. */
  ports: namedPortsSchema.optional(),
  /** Whether `run` was started with a port that it shares. Absent: unknown, as `port` is, or of an earlier version. */
  sharesPort: z.boolean().optional(),
  /** True when the directory was there before the first install; null: there was no install yet. */
  isFound: z.boolean().nullable().default(null),
  /** The result of the look at the port of a run; null: there was no look yet. */
  listens: listensSchema.nullable().default(null),
  hooks: hooksSchema.readonly().default(NO_HOOKS),
  /** Null: no run was given up, or only an earlier one. */
  givenUp: givenUpSchema.nullable().default(null),
  /** The last complete install; null before the first install, and for instances without templates. */
  installed: installedSchema.readonly().nullable(),
});

export type HandleRecord = z.output<typeof handleRecordSchema>;
