/**
 * Takes the questions and wishes out of what a session's tool says to the terminal that it draws on. The terminal at
 * the far end would answer them as if somebody typed, and its answers would reach the program.
 */

/**
 * Questions for attributes, version, place of the cursor, modes and colours; and the wish that a paste is marked, which
 * only a program that asked for it understands.
 */
const QUESTION =
  /\x1b\[[>=?]?[\d;]*[cn]|\x1b\[>[\d;]*q|\x1b\[\??[\d;]*\$p|\x1b\](?:1[0-9]|4;\d+);\?(?:\x07|\x1b\\)|\x1b\[\?2004[hl]/g;
/** The beginning of what may become a question, at the end of some output. */
const BEGINNING = /\x1b(?:\[[>=?]?[\d;]{0,16}\$?|\](?:[\d;]{0,8}\??\x1b?))?$/;

export class TerminalQuestions {
  #rest = '';

  /** The output without questions. What may be the beginning of one waits for the next output. */
  take(bytes: Buffer): Buffer {
    // One character for each byte: text in UTF-8 passes unchanged.
    const text = (this.#rest + bytes.toString('latin1')).replace(QUESTION, '');
    const at = text.search(BEGINNING);
    this.#rest = at < 0 ? '' : text.slice(at);
    return Buffer.from(at < 0 ? text : text.slice(0, at), 'latin1');
  }
}
