/**
 * Those who look at one session by Drover. The session's tool draws it for each anew. What somebody types goes to the
 * program's terminal past the tool, whose keys could start other programs. Where the tool's window takes the size of who
 * looks at it, the smallest of them decides, and with the last one the window has its old size again.
 */
import { smallestOf, type TerminalSize } from '../../../model/run/attachment.js';
import type { View, Viewer } from '../../owner/held-run.js';
import type { SessionTerminal } from '../input/session-terminal.js';
import type { SessionRun, SessionTool } from '../session-tool.js';
import { SessionView } from './session-view.js';

/** Several changes of size in a row, as of a window that is being dragged, count once. */
const FIT_AFTER_MS = 50;

export interface SessionViewsOptions {
  readonly tool: Pick<SessionTool, 'view' | 'resize'>;
  readonly run: SessionRun;
  /** Undefined: the session has none yet. */
  readonly terminal: () => Pick<SessionTerminal, 'size'> | undefined;
  /** Resolves with false when too much waits already. */
  readonly type: (bytes: Buffer) => Promise<boolean>;
}

export class SessionViews {
  readonly #options: SessionViewsOptions;
  readonly #sizes = new Map<SessionView, TerminalSize>();
  #timer: NodeJS.Timeout | undefined;
  #opening = 0;
  /** The size of the window before the first view, where views change it. */
  #sizeBefore: Promise<TerminalSize | undefined> | undefined;

  constructor(options: SessionViewsOptions) {
    this.#options = options;
  }

  /** Throws an Error for the operator. */
  async open({ size, onOutput, onEnd }: Viewer): Promise<View> {
    const { tool, run, type } = this.#options;
    this.#opening++;
    try {
      if (tool.resize !== undefined) this.#sizeBefore ??= this.#readSize();
      await this.#sizeBefore;
      const view = new SessionView({ call: await tool.view(run), size, onOutput, onEnd });
      this.#setSize(view, size);
      return {
        isTransparent: false,
        write: (bytes) => type(bytes),
        resize: (now) => {
          if (!this.#sizes.has(view)) return;
          view.resize(now);
          this.#setSize(view, now);
        },
        close: () => this.#close(view),
      };
    } finally {
      this.#opening--;
    }
  }

  #close(view: SessionView): void {
    if (!this.#sizes.delete(view)) return;
    if (this.#sizes.size + this.#opening === 0 && this.#sizeBefore !== undefined) {
      void this.#restoreSize().finally(() => view.close());
      return;
    }
    view.close();
    this.#fitLater();
  }

  #setSize(view: SessionView, size: TerminalSize): void {
    this.#sizes.set(view, size);
    this.#fitLater();
  }

  #fitLater(): void {
    if (this.#options.tool.resize === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#fit(), FIT_AFTER_MS);
  }

  /** The tool itself follows a single view, and none where there are several. */
  async #fit(): Promise<void> {
    const sizes = [...this.#sizes.values()];
    if (sizes.length > 0) await this.#resize(smallestOf(sizes));
  }

  async #readSize(): Promise<TerminalSize | undefined> {
    return await this.#options.terminal()?.size();
  }

  /** Gives the window its size back, before the last view goes: screen sets no size where nobody looks. */
  async #restoreSize(): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#sizeBefore;
    this.#sizeBefore = undefined;
    const size = await before;
    if (size !== undefined && this.#sizeBefore === undefined) await this.#resize(size);
    // Somebody came meanwhile.
    this.#fitLater();
  }

  async #resize(size: TerminalSize): Promise<void> {
    const { tool, run } = this.#options;
    try {
      await tool.resize?.(run, size);
    } catch {
      // The session has ended.
    }
  }
}
