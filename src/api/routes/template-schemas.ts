/** What the template endpoints take and answer. */
import { z } from 'zod';
import { nameSchema } from '../../model/names.js';
import { templateReferenceSchema } from '../../model/template.js';

export const templateParams = z.object({
  group: nameSchema.describe('group of the template'),
  name: nameSchema.describe('name of the template in its group'),
});

/** The router's name for what stands at the end. The path itself is checked where files are opened. */
export const fileParams = templateParams.extend({
  '*': z
    .string()
    .describe('path of the file relative to the template; slashes may be encoded, links are not followed'),
});

const templateName = {
  group: z.string(),
  name: z.string(),
};
const message = z.string().describe('what was done, for a person');
const path = z.string().describe('relative to the template');
const bytes = z.int().min(0);

export const templateGroups = z.array(
  z.object({ group: z.string(), templates: z.array(templateReferenceSchema) }),
);

export const templateDetails = z.object({
  ...templateName,
  path: z.string().describe("relative to the node's root: templates/<group>/<name>"),
  exists: z.boolean(),
});

export const templateFiles = z.object({
  ...templateName,
  files: z.array(z.string()).describe('relative paths, in order'),
});

export const writtenFile = z.object({
  message,
  ...templateName,
  path,
  bytes: bytes.describe('size of the file'),
});

export const removedFile = z.object({ message, ...templateName, path });

export const importedTemplate = z.object({
  message,
  ...templateName,
  files: z.int().min(0).describe('files in the zip'),
  bytes: bytes.describe('all of them together, unpacked'),
});

export const syncBody = z.object({ storage: nameSchema.describe('key of the storage provider') });

export const syncedTemplate = z.object({
  message,
  ...templateName,
  storage: z.string(),
  files: z.int().min(0),
  bytes,
  digest: z.string().describe('name of the tree by its content'),
});

/** Plugins in use send no body at all. */
export const clusterSyncBody = z.object({
  pattern: z.string().default('*').describe('group/name, group/* or *; default: *'),
});

export const clusterSyncAnswer = z.object({
  message,
  pattern: z.string(),
  templates: z.array(z.string()).describe('group/name of each template that matches'),
  nodes: z.array(z.string()).describe('ids of the nodes that are told to fetch them'),
});
