/** Prints lines of logs as they come: plain text, with the time and the instance before them where that was asked for. */
import { toPlainText } from '../../telemetry/plain-text.js';
import type { LiveOutput } from './live-output.js';
import type { LogPiece } from './log-part.js';

/** A line whose time is not known. */
const NO_TIME = '-';

export class LogPrinter {
  readonly #output: LiveOutput;
  readonly #isPrefixed: boolean;

  /** `isPrefixed`: the lines are of several instances. */
  constructor(output: LiveOutput, isPrefixed: boolean) {
    this.#output = output;
    this.#isPrefixed = isPrefixed;
  }

  /** Resolves with false when nobody reads any more. */
  async print(id: string, piece: LogPiece): Promise<boolean> {
    if ('gap' in piece) {
      const { first, last } = piece.gap;
      const which = first === last ? `line ${first} is` : `lines ${first} to ${last} are`;
      this.#output.say(`instance ${id}: ${which} no longer kept`);
      return true;
    }
    const { lines, times } = piece;
    const prefix = this.#isPrefixed ? `[${id}] ` : '';
    const texts = lines.map((line, index) => {
      const time = times === undefined ? '' : `${times[index] ?? NO_TIME} `;
      return `${prefix}${time}${toPlainText(line)}\n`;
    });
    return this.#output.write(texts.join(''));
  }
}
