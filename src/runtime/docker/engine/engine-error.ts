/** The two ways in which a request to the engine fails: a refusal, or no answer. */
import { z } from 'zod';
import { DroverError, messageOf } from '../../../model/errors.js';
import { withoutPaths } from '../../../model/public-message.js';
import { systemReason } from '../../../model/words.js';
import { unavailable } from '../../failures.js';

const LONGEST_WORDS = 500;

const refusalSchema = z.object({ message: z.string() });

/** The engine's answer with a status that is no success. `message` holds the engine's text, without paths. */
export class EngineRefusal extends Error {
  readonly status: number;

  constructor(status: number, words: string) {
    super(withoutPaths(words).trim().slice(0, LONGEST_WORDS));
    this.name = 'EngineRefusal';
    this.status = status;
  }
}

/** True when the engine does not know the requested object. */
export function isUnknown(error: unknown): boolean {
  return error instanceof EngineRefusal && error.status === 404;
}

/** True when the engine says that the container is in the wrong state: not running, or being removed already. */
export function isNotNow(error: unknown): boolean {
  return error instanceof EngineRefusal && error.status === 409;
}

/** The refusal for an answer with this status and body. */
export function refusalOf(status: number, body: string): EngineRefusal {
  try {
    return new EngineRefusal(status, refusalSchema.parse(JSON.parse(body)).message);
  } catch {
    return new EngineRefusal(status, body.trim() || `HTTP ${status}`);
  }
}

/** Turns an error into DRV_RUNTIME_UNAVAILABLE, unless it is the engine's refusal. */
export function toEngineError(error: unknown): Error {
  if (error instanceof DroverError || error instanceof EngineRefusal) return error;
  return unavailable(
    `the container engine does not answer: ${systemReason(error) ?? withoutPaths(messageOf(error))}`,
  );
}
