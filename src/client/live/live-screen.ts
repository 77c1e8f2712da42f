/** Draws text repeatedly over the whole terminal. The earlier content scrolls up. */
import { plainLines } from '../../command-tree/printed-text.js';
import { settleMarks } from '../../command-tree/tones.js';
import { wrapText } from '../../model/plain/wrap-text.js';
import type { LiveOutput } from './live-output.js';

export type TerminalStream = NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, 'columns' | 'rows'>>;

const HOME = '\x1b[H';
const CLEAR_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';
const USUAL_ROWS = 24;

export class LiveScreen {
  readonly #output: LiveOutput;
  readonly #terminal: TerminalStream;
  #isFirst = true;
  #status = '';

  constructor(output: LiveOutput, terminal: TerminalStream) {
    this.#output = output;
    this.#terminal = terminal;
  }

  /** Sets the last line of the screen; '': no such line. */
  setStatus(line: string): void {
    this.#status = line;
  }

  /** Draws as much of the text as fits. Resolves with false when nobody reads the output any more. */
  draw(text: string): Promise<boolean> {
    // Some terminals report a size of 0 because they do not know it.
    const { rows = 0, columns = 0 } = this.#terminal;
    const room = (rows || USUAL_ROWS) - 1;
    const status = this.#status === '' ? [] : ['', this.#status];
    const plain = plainLines(text).slice(0, -1);
    const all = (columns === 0 ? plain : wrapText(plain, columns)).split('\n');
    const shown =
      all.length + status.length <= room
        ? all
        : [
            ...all.slice(0, room - status.length - 1),
            `... and ${all.length - room + status.length + 1} lines more`,
          ];
    const lines = [...shown, ...status].map((line) =>
      settleMarks(
        columns === 0 ? line : Array.from(line).slice(0, columns).join(''),
        this.#output.isColoured,
      ),
    );
    const scrolled = this.#isFirst ? '\n'.repeat(room) : '';
    this.#isFirst = false;
    return this.#output.write(
      `${scrolled}${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\n')}\n${CLEAR_BELOW}`,
    );
  }
}
