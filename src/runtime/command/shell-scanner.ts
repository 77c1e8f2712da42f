/**
 * Follows the quoting of a POSIX shell command from its start: tells whether a place is unquoted, in quotes, in a
 * comment or in arithmetic. It knows nesting by `$( )`, `${ }`, `$(( ))`, backquotes and parentheses. It does not know
 * `case` patterns without an opening parenthesis inside `$( )`. There it may read the quoting wrong: that spoils a
 * word, but never runs a value, because only references are inserted.
 */

type ShellContext = 'unquoted' | 'double' | 'single' | 'arithmetic' | 'comment' | 'here-document';

export interface ShellPlace {
  readonly context: ShellContext;
  /** True directly behind a backslash that quotes the next character. */
  readonly isEscaped: boolean;
  /** True directly behind a `$` that stands for itself. */
  readonly isAfterDollar: boolean;
}

/** An open construct: the state inside it, and the characters that close it. */
interface Frame {
  readonly context: 'unquoted' | 'double' | 'single' | 'arithmetic';
  readonly closer: '' | "'" | '"' | ')' | '))' | '}' | '`';
}

const COMMAND_LINE: Frame = { context: 'unquoted', closer: '' };
/** An unquoted # behind one of these starts a comment. */
const WORD_BREAK = /[\s;&|()<>`]/;

export class ShellScanner {
  readonly #text: string;
  readonly #frames: Frame[] = [COMMAND_LINE];
  #at = 0;
  #isEscaped = false;
  /**
   * The index of the last `$` that stands for itself. It starts at -2, so that no `$` seems to precede the first
   * character.
   */
  #plainDollarAt = -2;
  #atWordStart = true;
  #inComment = false;
  #sawHereDocument = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the text up to `index`, and returns the state there. `index` must not be lower than in an earlier call. */
  advanceTo(index: number): ShellPlace {
    while (this.#at < index) this.#step(this.#text.charAt(this.#at++));
    return {
      context: this.#context(),
      isEscaped: this.#isEscaped,
      isAfterDollar: this.#plainDollarAt === index - 1,
    };
  }

  /** Continues at `index`, behind a placeholder. The placeholder's own characters mean nothing to the shell. */
  skipTo(index: number): void {
    this.#at = index;
    this.#isEscaped = false;
    this.#atWordStart = false;
  }

  get #top(): Frame {
    return this.#frames.at(-1) ?? COMMAND_LINE;
  }

  #context(): ShellContext {
    if (this.#inComment) return 'comment';
    return this.#sawHereDocument ? 'here-document' : this.#top.context;
  }

  #step(char: string): void {
    if (this.#inComment) this.#stepInComment(char);
    else if (this.#isEscaped) this.#endEscape();
    else if (this.#top.context === 'double') this.#stepInDouble(char);
    else if (this.#top.context === 'arithmetic') this.#stepInArithmetic(char);
    else if (this.#top.context === 'unquoted') this.#stepUnquoted(char);
    else if (char === "'") this.#frames.pop();
  }

  #endEscape(): void {
    this.#isEscaped = false;
    this.#atWordStart = false;
  }

  #stepInComment(char: string): void {
    if (char === '\n') {
      this.#inComment = false;
      this.#atWordStart = true;
    } else if (char === '`' && this.#frames.some(({ closer }) => closer === '`')) {
      this.#inComment = false;
      this.#backquote();
    }
  }

  #stepInDouble(char: string): void {
    if (char === this.#top.closer) this.#frames.pop();
    else if (char === '"') this.#frames.push({ context: 'double', closer: '"' });
    else this.#stepQuotable(char);
  }

  #stepInArithmetic(char: string): void {
    if (char === '(') this.#frames.push({ context: 'arithmetic', closer: ')' });
    else if (char === ')') this.#closeParenthesis();
    else if (char === this.#top.closer) this.#frames.pop();
    else this.#stepQuotable(char);
  }

  #stepUnquoted(char: string): void {
    const { closer } = this.#top;
    const isWordStart = this.#atWordStart;
    this.#atWordStart = WORD_BREAK.test(char);
    if (char === "'") this.#frames.push({ context: 'single', closer: "'" });
    else if (char === '"') this.#frames.push({ context: 'double', closer: '"' });
    else if (char === '}' && closer === '}') this.#frames.pop();
    else if (closer === '}') this.#stepQuotable(char);
    else if (char === '#' && isWordStart) this.#inComment = true;
    else if (char === '<' && this.#text.charAt(this.#at) === '<') this.#sawHereDocument = true;
    else if (char === '(') this.#frames.push({ context: 'unquoted', closer: ')' });
    else if (char === ')') this.#closeParenthesis();
    else this.#stepQuotable(char);
  }

  /** Handles characters that mean the same inside double quotes and outside. */
  #stepQuotable(char: string): void {
    if (char === '\\') this.#isEscaped = this.#top.context !== 'arithmetic';
    else if (char === '`') this.#backquote();
    else if (char === '$') this.#dollar();
  }

  #dollar(): void {
    const { context } = this.#top;
    if (this.#text.startsWith('((', this.#at)) {
      this.#at += 2;
      this.#frames.push({ context: 'arithmetic', closer: '))' });
    } else if (this.#text.startsWith('(', this.#at)) {
      this.#at += 1;
      this.#frames.push({ context: 'unquoted', closer: ')' });
      this.#atWordStart = true;
    } else if (this.#text.startsWith('{', this.#at)) {
      this.#at += 1;
      this.#frames.push({ context, closer: '}' });
    } else if (this.#text.startsWith('$', this.#at)) {
      this.#at += 1;
    } else {
      this.#plainDollarAt = this.#at - 1;
    }
  }

  #closeParenthesis(): void {
    const { closer } = this.#top;
    if (closer === ')') {
      this.#frames.pop();
    } else if (closer === '))') {
      this.#frames.pop();
      if (this.#text.charAt(this.#at) === ')') this.#at += 1;
      // `$((` was not arithmetic: a command began with a subshell, as in `$((a) | b)`. So one parenthesis is still
      // open.
      else this.#frames.push({ context: 'unquoted', closer: ')' });
    }
  }

  #backquote(): void {
    const open = this.#frames.findLastIndex(({ closer }) => closer === '`');
    if (open === -1) {
      this.#frames.push({ context: 'unquoted', closer: '`' });
      this.#atWordStart = true;
    } else {
      this.#frames.length = open;
      this.#atWordStart = false;
    }
  }
}
