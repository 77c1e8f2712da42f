/** The body of an error answer, as an expectation. */
import { expect } from 'vitest';
import { type ErrorCode, isErrorCode } from '../../../src/model/errors.js';

/** `error`: the sentence, or a matcher. `code`: default any that there is. */
export function refusal(error: unknown = expect.any(String), code?: ErrorCode): object {
  return {
    error,
    code: code ?? expect.toSatisfy((text: unknown) => typeof text === 'string' && isErrorCode(text)),
  };
}
