/** The schema of every kind of record that the master keeps, by the prefix of its keys. */
import type { z } from 'zod';
import { apiKeyRecordSchema } from '../model/access/api-key.js';
import { sessionRecordSchema } from '../model/access/session.js';
import { joinTokenRecordSchema, memberRecordSchema } from '../model/cluster.js';
import { configurationRecordSchema, configurationSchema } from '../model/configuration.js';
import { configurationHistorySchema } from '../model/configuration-history.js';
import { configurationOverridesSchema } from '../model/configuration-overrides.js';
import { eventRecordSchema } from '../model/event.js';
import { exitRecordSchema } from '../model/exit-record.js';
import { secretRecordSchema } from '../model/fields/secret.js';
import { cloneRecordSchema } from '../model/git-standing.js';
import { instanceRecordSchema } from '../model/instance.js';
import { nodeRecordSchema } from '../model/node.js';
import { problemOf } from '../model/public-message.js';
import { rolloutRecordSchema } from '../model/rollout.js';
import { timetableSchema } from '../model/schedule.js';
import { templateRecordSchema } from '../model/template.js';
import { noticeRecordSchema } from '../model/webhook.js';
import { PREFIX } from '../store/keys.js';
import type { Entry } from '../store/store.js';

/** The secrets of masters are left out: only their key can tell whether they are whole. */
export const RECORD_SCHEMAS = {
  configurations: configurationRecordSchema,
  revisions: configurationSchema,
  histories: configurationHistorySchema,
  overrides: configurationOverridesSchema,
  events: eventRecordSchema,
  exits: exitRecordSchema,
  notices: noticeRecordSchema,
  instances: instanceRecordSchema,
  rollouts: rolloutRecordSchema,
  timetables: timetableSchema,
  keys: apiKeyRecordSchema,
  sessions: sessionRecordSchema,
  nodes: nodeRecordSchema,
  joinTokens: joinTokenRecordSchema,
  members: memberRecordSchema,
  programSecrets: secretRecordSchema,
  templates: templateRecordSchema,
  clones: cloneRecordSchema,
} as const satisfies Partial<Record<keyof typeof PREFIX, z.ZodType>>;

/** The fault of a stored record, for a person; undefined: a master can read the record. */
export function problemOfRecord({ key, value }: Entry): string | undefined {
  const schemas: Partial<Record<string, z.ZodType>> = RECORD_SCHEMAS;
  const [kind = ''] = Object.entries(PREFIX).find(([, prefix]) => key.startsWith(prefix)) ?? [];
  const error = schemas[kind]?.safeParse(value).error;
  return error === undefined ? undefined : problemOf(error);
}
