/** Reads arguments and options of commands. Each parser throws what Commander prints, with the option's name before it. */
import { InvalidArgumentError } from 'commander';

/** Returns a parser of whole numbers from `least` to `most`. */
export function wholeNumber(most: number, least = 1): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
