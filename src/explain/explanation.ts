/**
 * Why something is as it is, as data: what `GET /instances/{id}/why` and `GET /configurations/{name}/why` answer and
 * what `instance why` and `config why` print. Written for a person in a hurry: the verdict first, then the numbers.
 */
import { z } from 'zod';

/** What one node says to one instance or configuration. */
export const nodeVerdictSchema = z.object({
  nodeId: z.string(),
  fits: z.boolean(),
  /** Short code of the first condition that failed (`ram`, `port`, ...); null: fits. */
  failed: z.string().nullable(),
  message: z.string().describe('in numbers: `needs 2048 MB of RAM, has 512 MB of 4096 MB free`'),
});
export type NodeVerdict = z.output<typeof nodeVerdictSchema>;

export const portHolderSchema = z.object({
  port: z.int(),
  nodeId: z.string(),
  instanceId: z.string().nullable().describe('null: a program that is not ours'),
  configurationName: z.string().nullable(),
});

export const pastExitSchema = z.object({
  at: z.number().describe('Unix milliseconds'),
  run: z.int().describe('which start of the instance, counted from 1'),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  lastLines: z.array(z.string()).describe('what it wrote last, oldest first'),
});
export type PastExit = z.output<typeof pastExitSchema>;

export const instanceExplanationSchema = z.object({
  instanceId: z.string(),
  configurationName: z.string(),
  verdict: z.string().describe('one sentence: what is the matter, and what happens next'),
  /** What to do, if anything needs doing; null: nothing. */
  advice: z.string().nullable(),
  desired: z.string().describe('run, stop'),
  actual: z.string().describe('state'),
  isSettled: z.boolean().describe('desired and actual agree'),
  reason: z.string().nullable(),
  message: z.string().nullable(),
  node: z.string().nullable(),
  port: z.int().nullable(),
  processPid: z.int().nullable(),
  restarts: z.int(),
  failuresInARow: z.int(),
  retryInMs: z.number().nullable().describe('time to the next try; null: none is due'),
  nodes: z.array(nodeVerdictSchema).describe('empty once placed'),
  portHolders: z
    .array(portHolderSchema)
    .describe('who holds the ports of its range, when that is the matter'),
  exits: z.array(pastExitSchema).describe('newest first'),
});
export type InstanceExplanation = z.output<typeof instanceExplanationSchema>;

export const configurationExplanationSchema = z.object({
  configurationName: z.string(),
  verdict: z.string(),
  advice: z.string().nullable(),
  isSettled: z.boolean(),
  minimum: z.int(),
  maximum: z.int().nullable(),
  actual: z.int().describe('instances that count towards the minimum'),
  online: z.int(),
  nextCreationInMs: z.number().nullable().describe('the delay while new instances keep failing; null: none'),
  file: z
    .object({
      name: z.string(),
      error: z.string().nullable(),
      line: z.int().nullable(),
      field: z.string().nullable(),
    })
    .nullable(),
  nodes: z.array(nodeVerdictSchema).describe('where one more instance would fit'),
  portHolders: z.array(portHolderSchema),
  instances: z.array(
    z.object({
      instanceId: z.string(),
      state: z.string(),
      verdict: z.string(),
    }),
  ),
});
export type ConfigurationExplanation = z.output<typeof configurationExplanationSchema>;

/** Gathers the facts, asks the node that holds the instance, and explains. */
export interface Explainer {
  /** Throws DRV_INSTANCE_UNKNOWN. */
  instance(id: string): Promise<InstanceExplanation>;
  /** Also for a name that only a broken file has. Throws DRV_CONFIGURATION_UNKNOWN. */
  configuration(name: string): Promise<ConfigurationExplanation>;
}
