/** The `http` extension: templates from archives by URL, checked by their checksums. */
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Extension, StorageProvider } from '../extension.js';
import { unpackArchive } from './archive-file.js';
import { downloadChecked } from './http-download.js';
import { settingsReader, storagesSchema, storageUrlSchema } from './settings.js';

const MB = 1024 ** 2;
const DEFAULT_MAX_MB = 1024;
const TEMPLATE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const UNFINISHED = 'archive-';

const archivesSchema = z.strictObject({
  templates: z.record(
    z.string().regex(TEMPLATE, 'must be <group>/<name>'),
    z.strictObject({
      url: storageUrlSchema,
      sha256: z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
        .transform((text) => text.toLowerCase()),
    }),
  ),
  /** The largest packed archive, in MB. */
  maxMB: z.int().min(1).max(1_048_576).default(DEFAULT_MAX_MB),
  /** False: a redirect to another host is followed only to public addresses. */
  allowPrivateRedirects: z.boolean().default(false),
});

const readSettings = settingsReader(storagesSchema(archivesSchema));

export const httpExtension: Extension = {
  async activate({ settings, dataDirectory, registerStorage }) {
    const { storages } = readSettings(settings);
    for (const name of await readdir(dataDirectory))
      if (name.startsWith(UNFINISHED)) await rm(join(dataDirectory, name));
    for (const [key, archives] of Object.entries(storages))
      registerStorage(key, httpStorage(archives, dataDirectory));
  },
};

function httpStorage(
  { templates, maxMB, allowPrivateRedirects }: z.output<typeof archivesSchema>,
  dataDirectory: string,
): StorageProvider {
  const byName = new Map(Object.entries(templates));
  return {
    list: async (group) =>
      [...byName.keys()].flatMap((key) => (key.startsWith(`${group}/`) ? key.slice(group.length + 1) : [])),
    version: async (group, name) => byName.get(`${group}/${name}`)?.sha256 ?? null,
    download: async (group, name, directory, signal) => {
      const archive = byName.get(`${group}/${name}`);
      if (archive === undefined) throw new Error('the settings do not name it any more');
      const file = join(dataDirectory, UNFINISHED + randomBytes(8).toString('hex'));
      try {
        await downloadChecked({ ...archive, maxBytes: maxMB * MB, allowPrivateRedirects, file, signal });
        await unpackArchive(file, directory, signal);
      } finally {
        await rm(file, { force: true });
      }
    },
  };
}
