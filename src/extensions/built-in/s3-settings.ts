/** The settings of one bucket of the `s3` extension. */
import { z } from 'zod';
import { storageUrlSchema } from './settings.js';

const PREFIX = /^[^/\\\0]+(\/[^/\\\0]+)*$/;

export const bucketSchema = z
  .strictObject({
    endpoint: storageUrlSchema.optional(),
    region: z.string().min(1),
    bucket: z.string().min(1),
    /** The path of the objects, which lie under `<prefix>/<group>/<name>/`. */
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
