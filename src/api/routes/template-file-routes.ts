/** `/templates/{group}/{name}/files`: the files of a template, one at a time, as bytes of any type. */

import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ErrorCode, invalidRequest } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import type { ExpectedRevision } from '../../templates/library/files.js';
import { preconditionHeaders, preconditionOf, setTag } from '../http/preconditions.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

const FILE_PATH = '/templates/:group/:name/files/*';
const TEXT_TYPE = 'text/plain; charset=utf-8';
/** The errors of every change of a template. */
export const CHANGE_ERRORS: readonly ErrorCode[] = [
  'DRV_TEMPLATE_OWNED',
  'DRV_STORE_CONFLICT',
  'DRV_PATH_UNSAFE',
  'DRV_DISK_WRITE_FAILED',
];
/** The errors of a change whose content comes with the request. */
export const UPLOAD_ERRORS: readonly ErrorCode[] = ['DRV_REQUEST_TOO_LARGE', ...CHANGE_ERRORS];

export const templateParams = z.object({
  group: nameSchema.describe('group of the template'),
  name: nameSchema.describe('name of the template in its group'),
});

/** The fields of an answer that name the template. */
export const templateName = { group: z.string(), name: z.string() };

/** The path of the file, which the router calls `*`. It is checked where the file is opened. */
const fileParams = templateParams.extend({
  '*': z
    .string()
    .describe('path of the file relative to the template; slashes may be encoded, links are not followed'),
});

const message = z.string().describe('what was done, for a person');
const path = z.string().describe('path relative to the template');

const templateFiles = z.object({
  ...templateName,
  files: z.array(z.string()).describe('relative paths, in order'),
});
export type TemplateFileList = z.output<typeof templateFiles>;

const writtenFile = z.object({
  message,
  ...templateName,
  path,
  bytes: z.int().min(0).describe('size of the file'),
});

const removedFile = z.object({ message, ...templateName, path });

const ifMatch = preconditionHeaders.pick({ 'If-Match': true });

export const templateFileRoutes: readonly Route[] = [
  defineRoute('GET', '/templates/:group/:name/files', {
    scope: 'READ',
    summary: 'The files of a template, by path.',
    errors: ['DRV_TEMPLATE_UNKNOWN', 'DRV_TEMPLATE_UNSAFE', 'DRV_PATH_UNSAFE'],
    params: templateParams,
    answers: jsonAnswer('a flat list, in order', templateFiles),
    handle: async ({ params: { group, name } }, { templates }) => ({
      group,
      name,
      files: await templates.listFiles(group, name),
    }),
  }),
  defineRoute('GET', FILE_PATH, {
    scope: 'READ',
    summary: 'The content of a file, byte for byte.',
    errors: ['DRV_TEMPLATE_FILE_UNKNOWN', 'DRV_TEMPLATE_UNSAFE', 'DRV_PATH_UNSAFE'],
    params: fileParams,
    answers: { 200: { description: 'the content; `ETag` is its revision', contentType: 'text/plain' } },
    answerStream: true,
    handle: async ({ params: { group, name, '*': path }, request }, { templates }, reply) => {
      const { bytes, revision, content } = await templates.openFile(group, name, path);
      setTag(reply, revision);
      reply.header('content-length', bytes).header('x-content-type-options', 'nosniff').type(TEXT_TYPE);
      if (request.method !== 'HEAD') return reply.send(content);
      content.destroy();
      // Answer with an empty stream: only a stream keeps the Content-Length that was set; any other body replaces it.
      return reply.send(Readable.from([]));
    },
  }),
  defineRoute('POST', FILE_PATH, {
    scope: 'CONFIGURE',
    summary:
      'Creates a file with the bytes of the body, whatever its content type. Makes directories and template as needed.',
    errors: ['DRV_TEMPLATE_FILE_EXISTS', ...UPLOAD_ERRORS],
    params: fileParams,
    bodyTypes: ['application/octet-stream', 'text/plain'],
    bodyStream: true,
    answers: { 201: { description: 'created, and on disk; `ETag` is its revision', schema: writtenFile } },
    handle: async ({ params: { group, name, '*': path }, stream }, { templates }, reply) => {
      const { bytes, revision, note } = await templates.createFile(group, name, path, stream);
      setTag(reply, revision);
      reply.code(201);
      return { message: withNote(`file created: ${bytes} bytes`, { note }), group, name, path, bytes };
    },
  }),
  defineRoute('PATCH', FILE_PATH, {
    scope: 'CONFIGURE',
    summary:
      'Replaces the content of a file by the bytes of the body, wholly or not at all, whatever its content type.',
    errors: ['DRV_TEMPLATE_FILE_UNKNOWN', 'DRV_TEMPLATE_FILE_CHANGED', ...UPLOAD_ERRORS],
    headers: ifMatch,
    params: fileParams,
    bodyTypes: ['text/plain', 'application/octet-stream'],
    bodyStream: true,
    answers: jsonAnswer('replaced, and on disk; `ETag` is its revision', writtenFile),
    handle: async ({ params: { group, name, '*': path }, stream, request }, { templates }, reply) => {
      const expected = expectedOf(request);
      const { bytes, revision, note } = await templates.replaceFile(group, name, path, stream, expected);
      setTag(reply, revision);
      return { message: withNote(`file replaced: ${bytes} bytes`, { note }), group, name, path, bytes };
    },
  }),
  defineRoute('DELETE', FILE_PATH, {
    scope: 'CONFIGURE',
    summary: 'Deletes a file, and the directories that this leaves empty; the template itself stays.',
    errors: ['DRV_TEMPLATE_FILE_UNKNOWN', 'DRV_TEMPLATE_FILE_CHANGED', ...CHANGE_ERRORS],
    headers: ifMatch,
    params: fileParams,
    answers: jsonAnswer('deleted', removedFile),
    handle: async ({ params: { group, name, '*': path }, request }, { templates }) => {
      const removed = await templates.removeFile(group, name, path, expectedOf(request));
      return { message: withNote('file deleted', removed), group, name, path };
    },
  }),
];

export function withNote(message: string, { note }: { readonly note?: string | undefined }): string {
  return note === undefined ? message : `${message}; ${note}`;
}

/** The revision that `If-Match` expects. Throws DRV_REQUEST_INVALID for a condition that would not be heeded. */
function expectedOf(request: FastifyRequest): ExpectedRevision {
  const condition = preconditionOf(request);
  if (condition?.is === 'absent')
    throw invalidRequest('header If-None-Match is not taken here: POST creates a file');
  return (revision) => condition?.revisions?.includes(revision) ?? true;
}
