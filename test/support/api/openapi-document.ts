/** Types for the parts of the API's description that tests read. */
import { z } from 'zod';

const mediaSchema = z.looseObject({ schema: z.record(z.string(), z.unknown()).optional() });
const contentSchema = z.record(z.string(), mediaSchema);

const responseSchema = z.looseObject({ $ref: z.string().optional(), content: contentSchema.optional() });

const parameterSchema = z.looseObject({
  in: z.enum(['path', 'query', 'header']),
  name: z.string(),
  required: z.boolean().default(false),
  schema: z.record(z.string(), z.unknown()),
});

const operationSchema = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.looseObject({ content: contentSchema }).optional(),
  responses: z.record(z.string(), responseSchema),
});

export const apiDocumentSchema = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    responses: z.record(z.string(), responseSchema),
  }),
});

export type ApiDocument = z.output<typeof apiDocumentSchema>;
export type ApiOperation = z.output<typeof operationSchema>;
export type ApiResponse = z.output<typeof responseSchema>;
