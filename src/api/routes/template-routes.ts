/**
 * `/templates`: lists templates, moves whole ones as zips, and syncs them. `template-file-routes.ts` serves their
 * files.
 */

import { z } from 'zod';
import { templateUnknown } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { mayInstall } from '../../model/plain/may-install.js';
import {
  type ClusterSyncReport,
  clusterSyncSchema,
  LOCAL_STORAGE,
  templateReferenceSchema,
} from '../../model/template.js';
import { countText } from '../../model/words.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import {
  CHANGE_ERRORS,
  templateFileRoutes,
  templateName,
  templateParams,
  UPLOAD_ERRORS,
  withNote,
} from './template-file-routes.js';

const message = z.string().describe('what was done, for a person');
const bytes = z.int().min(0);

const templateGroups = z.array(z.object({ group: z.string(), templates: z.array(templateReferenceSchema) }));

const templateDetails = z.object({
  ...templateName,
  path: z.string().describe("path relative to the node's root: templates/<group>/<name>"),
  exists: z.boolean(),
});

const exportQuery = z.object({
  path: z
    .string()
    .optional()
    .describe(
      'only this file, or this directory with its contents; paths in the zip stay those in the template',
    ),
});

const importedTemplate = z.object({
  message,
  ...templateName,
  files: z.int().min(0).describe('files in the zip'),
  bytes: bytes.describe('the unpacked bytes of all files together'),
});

const syncBody = z.object({ storage: nameSchema.describe('key of the storage provider') });

const syncedTemplate = z.object({
  message,
  ...templateName,
  storage: z.string(),
  files: z.int().min(0),
  bytes,
  digest: z.string().describe('digest of the content, which names the tree'),
});

const clusterSyncBody = z.object({ pattern: z.string().describe('group/name, group/* or *') });
/** Existing plugins send no body, which means every template. */
const EVERY_TEMPLATE = { pattern: '*' };

const clusterSyncAnswer = z.object({
  message,
  pattern: z.string(),
  templates: z.array(z.string()).describe('group/name of each template that matches'),
  nodes: z.array(z.string()).describe('ids of the nodes that fetch the templates'),
});
export type BegunSync = z.output<typeof clusterSyncAnswer>;

export const templateRoutes: readonly Route[] = [
  defineRoute('GET', '/templates', {
    scope: 'READ',
    summary: 'All local templates, by group.',
    answers: jsonAnswer('groups with their templates, both in order', templateGroups),
    handle: async (_call, { templates }) => {
      await templates.library.rescan();
      return [...templates.library.groups()].map(([group, names]) => ({
        group,
        templates: names.map((name) => ({ name, group, storage: LOCAL_STORAGE, priority: 0 })),
      }));
    },
  }),
  defineRoute('GET', '/templates/:group/:name', {
    scope: 'READ',
    summary: 'The path of a template, and whether it exists.',
    errors: ['DRV_PATH_UNSAFE'],
    params: templateParams,
    answers: jsonAnswer('the path; the template need not exist', templateDetails),
    handle: async ({ params: { group, name } }, { templates }) => ({
      group,
      name,
      ...(await templates.details(group, name)),
    }),
  }),
  defineRoute('GET', '/templates/:group/:name/users', {
    scope: 'READ',
    summary: 'The configurations that may install a template. The template need not exist.',
    params: templateParams,
    answers: jsonAnswer('names of configurations, in order', z.array(z.string())),
    handle: ({ params }, { configurations }) =>
      [...configurations.entries()]
        .filter(([, { value }]) => mayInstall(value.configuration.templateInstallationConfig, params))
        .map(([name]) => name)
        .sort(),
  }),
  ...templateFileRoutes,
  defineRoute('POST', '/templates/:group/:name/export', {
    scope: 'READ',
    summary: 'The whole template as a zip, or a part of it; equal trees make equal zips.',
    errors: ['DRV_TEMPLATE_UNKNOWN', 'DRV_TEMPLATE_FILE_UNKNOWN', 'DRV_TEMPLATE_UNSAFE', 'DRV_PATH_UNSAFE'],
    params: templateParams,
    query: exportQuery,
    answers: { 200: { description: 'the zip, as it is made', contentType: 'application/zip' } },
    answerStream: true,
    handle: async ({ params: { group, name }, query: { path } }, { templates }, reply) => {
      const zip = await templates.exportArchive(group, name, path);
      // Both names fit the name pattern, so the file name needs no quoting.
      reply.header('content-disposition', `attachment; filename="${group}-${name}.zip"`);
      return reply.type('application/zip').send(zip);
    },
  }),
  defineRoute('POST', '/templates/:group/:name/import', {
    scope: 'CONFIGURE',
    summary:
      'Unpacks a zip into the template, wholly or not at all: its files replace files of the same path, other files stay.',
    errors: ['DRV_ARCHIVE_INVALID', 'DRV_ARCHIVE_TOO_LARGE', 'DRV_TEMPLATE_UNSAFE', ...UPLOAD_ERRORS],
    params: templateParams,
    bodyTypes: ['application/zip'],
    bodyStream: true,
    isUntimed: true,
    answers: jsonAnswer('imported', importedTemplate),
    handle: async ({ params: { group, name }, stream }, { templates }) => {
      const { files, bytes, note } = await templates.importArchive(group, name, stream);
      const message = withNote(`template ${group}/${name}: ${files} files imported`, { note });
      return { message, group, name, files, bytes };
    },
  }),
  defineRoute('POST', '/templates/:group/:name/sync', {
    scope: 'CONFIGURE',
    summary: 'Replaces the local template by the latest version at a storage provider.',
    errors: [
      'DRV_STORAGE_UNKNOWN',
      'DRV_STORAGE_FAILED',
      'DRV_TEMPLATE_UNKNOWN',
      'DRV_TEMPLATE_UNSAFE',
      ...CHANGE_ERRORS,
    ],
    params: templateParams,
    body: syncBody,
    answers: jsonAnswer('downloaded, and in place', syncedTemplate),
    isUntimed: true,
    handle: async ({ params: { group, name }, body: { storage } }, { templateSync }) => {
      const { files, bytes, digest, note } = await templateSync.fromStorage(group, name, storage);
      const message = withNote(`template ${group}/${name}: ${files} files from storage ${storage}`, { note });
      return { message, group, name, storage, files, bytes, digest };
    },
  }),
  defineRoute('POST', '/templates/sync', {
    scope: 'CONFIGURE',
    summary: 'Makes every connected node fetch templates before it needs them. No body means all templates.',
    body: clusterSyncBody,
    absentBody: EVERY_TEMPLATE,
    answers: jsonAnswer('the nodes fetch; GET /templates/sync shows the progress', clusterSyncAnswer),
    handle: async ({ body: { pattern } }, { templateSync }) => {
      const { templates, nodes } = await templateSync.toCluster(pattern);
      const message = `${countText(templates.length, 'template')} on the way to ${countText(nodes.length, 'node')}`;
      return { message: templates.length === 0 ? 'no template matches' : message, pattern, templates, nodes };
    },
  }),
  defineRoute('GET', '/templates/sync', {
    scope: 'READ',
    summary: 'The latest sync to the cluster, node by node.',
    errors: ['DRV_TEMPLATE_UNKNOWN'],
    answers: jsonAnswer('the sync, also while it runs', clusterSyncSchema),
    handle: (_call, { templateSync }): ClusterSyncReport => {
      const latest = templateSync.latestSync();
      if (latest !== undefined) return latest;
      throw templateUnknown(
        'no sync was asked for since the master started: POST /api/templates/sync begins one',
      );
    },
  }),
];
