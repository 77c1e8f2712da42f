/** The `s3` extension: makes a storage of each bucket that its settings name. */
import type { Extension } from '../extension.js';
import { bucketSchema } from './s3-settings.js';
import { S3Storage } from './s3-storage.js';
import { parseSettings, storagesSchema } from './settings.js';

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
