/** Reads arguments and options of commands. Each parser throws what Commander prints, with the option's name before it. */
import { InvalidArgumentError } from 'commander';

/** Returns a parser of whole numbers from 1 to `most`. */
export function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}
