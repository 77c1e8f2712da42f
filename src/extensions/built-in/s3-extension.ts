/** The `s3` extension: makes one storage of each bucket that its settings name. */
import { z } from 'zod';
import type { Extension } from '../extension.js';
import { S3Storage } from './s3-storage.js';
import { parseSettings, storagesSchema, storageUrlSchema } from './settings.js';

const PREFIX = /^[^/\\\0]+(\/[^/\\\0]+)*$/;

const bucketSchema = z
  .strictObject({
    endpoint: storageUrlSchema.optional(),
    region: z.string().min(1),
    bucket: z.string().min(1),
    /** Objects lie under `<prefix>/<group>/<name>/`. */
    prefix: z.string().regex(PREFIX, 'must be a path without a slash at either end').optional(),
    accessKeyId: z.string().min(1).optional(),
    secretAccessKey: z.string().min(1).optional(),
    forcePathStyle: z.boolean().optional(),
  })
  .refine(
    ({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined),
    {
      error: 'accessKeyId and secretAccessKey must be given together, or neither',
    },
  );

export type BucketSettings = z.output<typeof bucketSchema>;

const settingsSchema = storagesSchema(bucketSchema);

export const s3Extension: Extension = {
  activate(context) {
    const { storages } = parseSettings(settingsSchema, context.settings);
    for (const [key, settings] of Object.entries(storages)) {
      const storage = new S3Storage(settings);
      context.registerStorage(key, storage);
      context.signal.addEventListener('abort', () => storage.close(), { once: true });
    }
  },
};
