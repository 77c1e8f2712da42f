/** The size of a client's window: in the query of an attached terminal, and in the frame that changes it. */
import { z } from 'zod';

const MAX_LENGTH = 1000;
const LENGTH_RULE = `must be a whole number from 1 to ${MAX_LENGTH}`;

const length = z.int(LENGTH_RULE).min(1, LENGTH_RULE).max(MAX_LENGTH, LENGTH_RULE);
export const lengthQuery = z.coerce.number({ error: LENGTH_RULE }).pipe(length);

/** The text frame that a client sends when its window has a new size. */
export const resizeFrame = z.object({ type: z.literal('resize'), columns: length, rows: length });
