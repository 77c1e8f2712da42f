/** Reads arguments and options of commands. Each parser throws what Commander prints, with the option's name before it. */
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../model/plain/duration.js';

/** Returns a parser of whole numbers from `least` to `most`. */
export function wholeNumber(most: number, least = 1): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** Returns a parser of lengths of time, in milliseconds. `rule`: the sentence for any other text. */
export function lengthOfTime(mostMs: number, rule: string): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms <= mostMs) return ms;
    throw new InvalidArgumentError(rule);
  };
}
