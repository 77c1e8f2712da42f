/**
 * The viewers of one session through Drover. The session's tool draws the session for each viewer anew. Typed bytes go
 * to the program's terminal and bypass the tool, whose keys could start other programs. For a tool whose window takes
 * the size of its viewers, the smallest viewer decides. When the last viewer leaves, the window gets its old size back.
 */
import { smallestOf, type TerminalSize } from '../../../model/run/attachment.js';
import type { View, Viewer } from '../../owner/held-run.js';
import type { SessionTerminal } from '../input/session-terminal.js';
import type { SessionRun, SessionTool } from '../session-tool.js';
import { SessionView } from './session-view.js';

/** Several changes of size in a row, as when a window is dragged, count as one. */
const FIT_AFTER_MS = 50;

interface SessionViewsOptions {
  readonly tool: Pick<SessionTool, 'view' | 'resize'>;
  readonly run: SessionRun;
  /** The session's terminal; undefined: it has none yet. */
  readonly terminal: () => Pick<SessionTerminal, 'size'> | undefined;
  /** Passes on typed bytes. Resolves with false when too many bytes wait already. */
  readonly type: (bytes: Buffer) => Promise<boolean>;
}

export class SessionViews {
  readonly #options: SessionViewsOptions;
  readonly #sizes = new Map<SessionView, TerminalSize>();
  #timer: NodeJS.Timeout | undefined;
  #opening = 0;
  /** The size of the window before the first view; undefined when views do not change it. */
  #sizeBefore: Promise<TerminalSize | undefined> | undefined;

  constructor(options: SessionViewsOptions) {
    this.#options = options;
  }

  /** Opens a view. Throws an Error for the operator. */
  async open(viewer: Viewer): Promise<View> {
    const { tool, run, type } = this.#options;
    this.#opening++;
    try {
      if (tool.resize !== undefined) this.#sizeBefore ??= Promise.resolve(this.#options.terminal()?.size());
      await this.#sizeBefore;
      const view = new SessionView(await tool.view(run), viewer);
      this.#setSize(view, viewer.size);
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

  /** Gives the window the size of the smallest viewer. The tool itself follows only a single view. */
  #fitLater(): void {
    if (this.#options.tool.resize === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const sizes = [...this.#sizes.values()];
      if (sizes.length > 0) void this.#resize(smallestOf(sizes));
    }, FIT_AFTER_MS);
  }

  /** Gives the window its old size back before the last view closes, because screen sets no size when nobody looks. */
  async #restoreSize(): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#sizeBefore;
    this.#sizeBefore = undefined;
    const size = await before;
    if (size !== undefined && this.#sizeBefore === undefined) await this.#resize(size);
    // Fit the window again, because a viewer may have come meanwhile.
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
