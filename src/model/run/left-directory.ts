/**
 * The directory of a deleted static instance. Its node keeps the files, and `instance adopt` makes an instance from
 * them again.
 */
import { z } from 'zod';
import { namedPortsSchema } from '../fields/ports.js';
import { instanceIdSchema, nameSchema, portSchema } from '../names.js';

/** The facts that the node with the directory knows. */
export const keptDirectorySchema = z.object({
  id: instanceIdSchema.describe('of the instance that it belonged to, and the name of the directory'),
  configurationName: nameSchema.nullable().describe('null: not known'),
  leftAt: z.number().nullable().describe('Unix milliseconds; null: not known'),
  port: portSchema.nullable().describe('of its last run; null: none, or not known'),
  ports: namedPortsSchema.optional().describe('its named ports, likewise; absent: none, or not known'),
  sizeBytes: z.number().nullable().describe('of its files; null: too many to count, or not readable'),
});
export type KeptDirectory = z.output<typeof keptDirectorySchema>;

const leftDirectorySchema = keptDirectorySchema.extend({ nodeId: z.string() });
export type LeftDirectory = z.output<typeof leftDirectorySchema>;

export const leftDirectoriesSchema = z.object({
  directories: z.array(leftDirectorySchema).readonly().describe('the 1000 of each node that were left last'),
  silent: z
    .array(z.object({ nodeId: z.string(), why: z.string() }))
    .readonly()
    .describe('nodes that did not say what they have'),
});
export type LeftDirectories = z.output<typeof leftDirectoriesSchema>;
