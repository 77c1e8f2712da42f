/**
 * Asks a node for the directories of static instances that are gone. The wrapper's half answers, the master's half asks.
 * Changes no state.
 */
import { z } from 'zod';
import { instanceIdSchema } from '../../model/names.js';
import { type KeptDirectory, keptDirectorySchema } from '../../model/run/left-directory.js';
import type { CallPeer, Services } from '../protocol/calls.js';
import { MOST_LONG_ANSWER_BYTES } from '../protocol/frame-codec.js';

const LEFT_DIRECTORIES = 'left-directories';
/** The most directories in an answer. */
const MOST_LEFT = 1000;

/** `id`: only this directory is wanted, without its size. */
const questionSchema = z.object({ id: instanceIdSchema.optional() });
const answerSchema = z.array(keptDirectorySchema);

/** The wrapper's half. `list` returns all directories, the most recently left first. */
export function leftDirectoryServices(
  list: (id: string | undefined) => Promise<readonly KeptDirectory[]>,
): Services {
  return {
    [LEFT_DIRECTORIES]: async (parameters) =>
      (await list(questionSchema.parse(parameters).id)).slice(0, MOST_LEFT),
  };
}

/** The master's half. Throws the node's errors. */
export async function askForLeftDirectories(
  calls: CallPeer,
  question: z.input<typeof questionSchema>,
  signal: AbortSignal,
): Promise<readonly KeptDirectory[]> {
  return answerSchema.parse(
    await calls.call(LEFT_DIRECTORIES, question, { signal, mostBytes: MOST_LONG_ANSWER_BYTES }),
  );
}
