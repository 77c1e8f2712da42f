/**
 * The screen of a terminal, as a person sees it after some output. It knows the few control sequences that a line
 * editor uses.
 */

const SEQUENCE = /\x1b\[(\??[\d;]*)([A-Za-z])/y;

export class TerminalScreen {
  readonly #columns: number;
  readonly #lines: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** All lines since the beginning, without trailing blanks and colours. */
  get lines(): string[] {
    return this.#lines.map((line) =>
      Array.from(line, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  write(text: string): void {
    for (let index = 0; index < text.length; ) {
      SEQUENCE.lastIndex = index;
      const sequence = SEQUENCE.exec(text);
      if (sequence === null) this.#put(text.charAt(index++));
      else {
        this.#control(sequence[1] ?? '', sequence[2] ?? '');
        index += sequence[0].length;
      }
    }
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#down();
    else if (character === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (character >= ' ') {
      if (this.#column === this.#columns) {
        this.#column = 0;
        this.#down();
      }
      this.#line(this.#row)[this.#column++] = character;
    }
  }

  #control(parameter: string, kind: string): void {
    const count = Number(parameter === '' ? 1 : parameter);
    if (kind === 'A') this.#row = Math.max(0, this.#row - count);
    else if (kind === 'B') for (let index = 0; index < count; index++) this.#down();
    else if (kind === 'C') this.#column = Math.min(this.#columns, this.#column + count);
    else if (kind === 'D') this.#column = Math.max(0, this.#column - count);
    else if (kind === 'G') this.#column = count - 1;
    else if (kind === 'J') this.#clearDown();
    else if (kind === 'K')
      this.#line(this.#row).length = Math.min(this.#line(this.#row).length, this.#column);
    else if (kind !== 'm' && kind !== 'h' && kind !== 'l') throw new Error(`unexpected sequence ${kind}`);
  }

  #clearDown(): void {
    this.#line(this.#row).length = Math.min(this.#line(this.#row).length, this.#column);
    this.#lines.length = this.#row + 1;
  }

  #down(): void {
    this.#row++;
    this.#line(this.#row);
  }

  #line(row: number): string[] {
    const line = this.#lines[row] ?? [];
    this.#lines[row] = line;
    return line;
  }
}
