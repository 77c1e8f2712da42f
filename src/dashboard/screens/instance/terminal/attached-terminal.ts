/**
 * A terminal of the instance on the page: xterm.js over the attach socket (docs/api.md#attached-terminals). It is
 * loaded when it is first used.
 */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

interface AttachedTerminalOptions {
  readonly host: HTMLElement;
  /** Opens the socket with the size of the window. */
  readonly open: (size: { readonly columns: number; readonly rows: number }) => WebSocket;
  readonly onAttached: () => void;
  /**
   * Called when the terminal is over. `message` comes from the server; null: the connection was cut, or the server
   * refused it.
   */
  readonly onEnded: (message: string | null) => void;
  /** Called when the operator presses the keys that leave the terminal. */
  readonly onRelease: () => void;
}

/** The largest frame that the server takes, and the most columns or rows of a terminal. */
const MOST_BYTES = 64 * 1024;
const MOST_LENGTH = 1000;
const CR = 0x0d;
const LF = 0x0a;
/** The contrast at which the colours of programs can be read in both themes. */
const CONTRAST = 4.5;

export class AttachedTerminal {
  readonly #options: AttachedTerminalOptions;
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #socket: WebSocket;
  readonly #sizes: ResizeObserver;
  readonly #encoder = new TextEncoder();
  readonly #endDrawing: () => void;
  #isTransparent = false;
  #farewell: string | null = null;

  constructor(options: AttachedTerminalOptions) {
    const { host, open } = options;
    this.#options = options;
    this.#terminal = new Terminal({
      fontFamily: getComputedStyle(host).fontFamily,
      fontSize: 13,
      minimumContrastRatio: CONTRAST,
      scrollback: 5_000,
      theme: themeOf(host),
      // A link that a program prints stays plain text, so that no program leads an operator to another page.
      linkHandler: { activate: () => undefined },
    });
    this.#terminal.loadAddon(this.#fit);
    this.#endDrawing = drawUnderPolicy();
    this.#terminal.open(host);
    this.#fit.fit();
    this.#socket = open(this.#size());
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => this.#take(data);
    this.#socket.onclose = () => options.onEnded(this.#farewell);
    this.#listen();
    this.#sizes = new ResizeObserver(() => this.#fit.fit());
    this.#sizes.observe(host);
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Sends a key that the keyboard of a phone lacks. */
  press(key: string): void {
    this.#terminal.input(key);
    this.focus();
  }

  /** Call when the theme of the page has changed. */
  renewColours(): void {
    this.#terminal.options.theme = themeOf(this.#options.host);
  }

  /** Closes the terminal; the instance goes on. */
  close(): void {
    this.#sizes.disconnect();
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#terminal.dispose();
    this.#endDrawing();
  }

  #listen(): void {
    this.#terminal.onData((typed) => this.#type(this.#encoder.encode(typed)));
    // xterm.js gives reports of the mouse as text in which each character is one byte.
    this.#terminal.onBinary((typed) => this.#type(Uint8Array.from(typed, (one) => one.charCodeAt(0))));
    this.#terminal.onResize(() => this.#send(JSON.stringify({ type: 'resize', ...this.#size() })));
    this.#terminal.attachCustomKeyEventHandler((event) => {
      if (!isReleaseKey(event)) return true;
      event.preventDefault();
      if (event.type === 'keydown') this.#options.onRelease();
      return false;
    });
  }

  #take(data: ArrayBuffer | string): void {
    if (typeof data !== 'string') {
      this.#terminal.write(new Uint8Array(data));
      return;
    }
    const message: { readonly type?: string; readonly isTransparent?: boolean; readonly message?: string } =
      JSON.parse(data);
    if (message.type === 'attached') {
      this.#isTransparent = message.isTransparent === true;
      this.#terminal.options.convertEol = this.#isTransparent;
      this.#options.onAttached();
    } else if (message.type === 'refused') this.#terminal.write(`\r\n[${message.message}]\r\n`);
    else if (message.type === 'ended') this.#farewell = message.message ?? null;
  }

  #type(typed: Uint8Array<ArrayBuffer>): void {
    const bytes = this.#isTransparent ? typed.map((byte) => (byte === CR ? LF : byte)) : typed;
    for (let from = 0; from < bytes.length; from += MOST_BYTES)
      this.#send(bytes.subarray(from, from + MOST_BYTES));
  }

  #send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  #size(): { readonly columns: number; readonly rows: number } {
    const { cols, rows } = this.#terminal;
    return { columns: Math.min(cols, MOST_LENGTH), rows: Math.min(rows, MOST_LENGTH) };
  }
}

/** True for Ctrl+Shift+full stop, the keys that leave the terminal. */
function isReleaseKey({ ctrlKey, shiftKey, code }: KeyboardEvent): boolean {
  return ctrlKey && shiftKey && code === 'Period';
}

function themeOf(host: HTMLElement) {
  const { color, backgroundColor, outlineColor, borderTopColor } = getComputedStyle(host);
  return {
    foreground: color,
    background: backgroundColor,
    cursor: outlineColor,
    cursorAccent: backgroundColor,
    selectionBackground: borderTopColor,
  };
}

/**
 * Call while a terminal is open. Style elements that scripts make get the nonce of the page, and styles of spans go
 * over the CSSOM. Returns the function that ends this.
 */
function drawUnderPolicy(): () => void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  const createElement = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const element = Document.prototype.createElement.call(document, tag, options);
    if (tag === 'style') element.nonce = nonce;
    if (tag === 'span') element.setAttribute = setAttribute;
    return element;
  };
  Object.defineProperty(document, 'createElement', { value: createElement, configurable: true });
  return () => void Reflect.deleteProperty(document, 'createElement');
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
