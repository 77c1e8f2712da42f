/**
 * Removes questions and mode changes from the output that a session's tool draws on a viewer's terminal. The terminal
 * at the far end would answer them as if somebody typed, and its answers would reach the program.
 */

/**
 * Questions for attributes, version, cursor position, modes and colours. Also the switch for marked pastes, which only
 * a program that asked for it understands.
 */
const QUESTION =
  /\x1b\[[>=?]?[\d;]*[cn]|\x1b\[>[\d;]*q|\x1b\[\??[\d;]*\$p|\x1b\](?:1[0-9]|4;\d+);\?(?:\x07|\x1b\\)|\x1b\[\?2004[hl]/g;
/** The possible beginning of a question at the end of some output. */
const BEGINNING = /\x1b(?:\[[>=?]?[\d;]{0,16}\$?|\](?:[\d;]{0,8}\??\x1b?))?$/;

export class TerminalQuestions {
  #rest = '';

  /** Returns the output without questions. A possible beginning of a question waits for the next output. */
  take(bytes: Buffer): Buffer {
    // latin1 gives one character per byte, so that UTF-8 text passes unchanged.
    const text = (this.#rest + bytes.toString('latin1')).replace(QUESTION, '');
    const at = text.search(BEGINNING);
    this.#rest = at < 0 ? '' : text.slice(at);
    return Buffer.from(at < 0 ? text : text.slice(0, at), 'latin1');
  }
}
