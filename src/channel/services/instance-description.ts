/**
 * Asks a node what it knows about its instances, for `why`. The wrapper's half answers, the master's half asks. Changes
 * no state.
 */
import { z } from 'zod';
import { instanceIdSchema } from '../../model/names.js';
import { type InstanceDescription, instanceDescriptionSchema } from '../../model/run/instance-description.js';
import type { CallPeer, Services } from '../protocol/calls.js';

const DESCRIBE_INSTANCES = 'describe-instances';
/** The most instances in one question. */
const MOST_DESCRIBED = 100;
const MOST_LINES = 50;

const questionSchema = z.object({
  ids: z.array(instanceIdSchema).max(MOST_DESCRIBED),
  /** How many last lines of each past run are wanted. */
  lines: z.int().min(0).max(MOST_LINES),
});
const answerSchema = z.array(z.object({ id: instanceIdSchema, description: instanceDescriptionSchema }));

/** The wrapper's half. `describe` returns undefined for an instance that the node does not know. */
export function descriptionServices(
  describe: (id: string, lines: number) => Promise<InstanceDescription | undefined>,
): Services {
  return {
    [DESCRIBE_INSTANCES]: async (parameters) => {
      const { ids, lines } = questionSchema.parse(parameters);
      const answers: z.output<typeof answerSchema> = [];
      // Describe one instance after the other, because the node has other work and few callers ask for a hundred.
      for (const id of ids) {
        const description = await describe(id, lines);
        if (description !== undefined) answers.push({ id, description });
      }
      return answers;
    },
  };
}

/** The master's half. The result leaves out instances that the node does not know. `ids`: at most MOST_DESCRIBED. */
export async function askForDescriptions(
  calls: CallPeer,
  question: { readonly ids: readonly string[]; readonly lines: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, InstanceDescription>> {
  const answer = await calls.call(DESCRIBE_INSTANCES, question, { signal });
  return new Map(answerSchema.parse(answer).map(({ id, description }) => [id, description]));
}
