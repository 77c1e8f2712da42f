/** The ways in which a request to the engine fails: the engine refuses, or it does not answer at all. */
import { z } from 'zod';
import { DroverError, messageOf } from '../../../model/errors.js';
import { withoutPaths } from '../../../model/public-message.js';
import { systemReason } from '../../../model/words.js';
import { unavailable } from '../../failures.js';

const LONGEST_WORDS = 500;

const refusalSchema = z.object({ message: z.string() });

/** A refusal: the engine answered with a status that is no success. `message` holds its own words, without paths. */
export class EngineRefusal extends Error {
  readonly status: number;

  constructor(status: number, words: string) {
    super(withoutPaths(words).trim().slice(0, LONGEST_WORDS));
    this.name = 'EngineRefusal';
    this.status = status;
  }
}

/** True when the engine says that there is no such thing. */
export function isUnknown(error: unknown): boolean {
  return error instanceof EngineRefusal && error.status === 404;
}

/** True when the engine says that the container is in the wrong state: not running, or being removed already. */
export function isNotNow(error: unknown): boolean {
  return error instanceof EngineRefusal && error.status === 409;
}

/** The refusal in an answer with this status and body. */
export function refusalOf(status: number, body: string): EngineRefusal {
  try {
    return new EngineRefusal(status, refusalSchema.parse(JSON.parse(body)).message);
  } catch {
    return new EngineRefusal(status, body.trim() || `HTTP ${status}`);
  }
}

/** Makes a DRV_RUNTIME_UNAVAILABLE of any error that is not the engine's refusal. */
export function toEngineError(error: unknown): Error {
  if (error instanceof DroverError || error instanceof EngineRefusal) return error;
  return unavailable(
    `the container engine does not answer: ${systemReason(error) ?? withoutPaths(messageOf(error))}`,
  );
}
