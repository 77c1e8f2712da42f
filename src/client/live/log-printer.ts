/** Prints log lines as they arrive, in plain text. The time and the instance come first if requested. */
import { toPlainText } from '../../telemetry/plain-text.js';
import type { LiveOutput } from './live-output.js';
import type { LogPiece } from './log-part.js';

/** Printed instead of an unknown time. */
const NO_TIME = '-';

/** Prints a piece of an instance's log. Resolves with false when nobody reads the output any more. */
export type LogPrinter = (id: string, piece: LogPiece) => Promise<boolean>;

/** `isPrefixed`: each line begins with its instance, because there are several. */
export function logPrinter(output: LiveOutput, isPrefixed: boolean): LogPrinter {
  return async (id, piece) => {
    if ('gap' in piece) {
      const { first, last } = piece.gap;
      const which = first === last ? `line ${first} is` : `lines ${first} to ${last} are`;
      output.say(`instance ${id}: ${which} no longer kept`);
      return true;
    }
    const { lines, times } = piece;
    const prefix = isPrefixed ? `[${id}] ` : '';
    const texts = lines.map((line, index) => {
      const time = times === undefined ? '' : `${times[index] ?? NO_TIME} `;
      return `${prefix}${time}${toPlainText(line)}\n`;
    });
    return output.write(texts.join(''));
  };
}
