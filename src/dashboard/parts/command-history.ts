/** The commands that this tab has sent, as a shell remembers them. They end with the session. */

/** The part of the browser's sessionStorage that is used here. */
interface CommandStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

interface Stored {
  readonly owner: string;
  readonly commands: readonly string[];
}

const MOST = 100;

export class CommandHistory {
  readonly #storage: CommandStorage;
  readonly #owner: string;
  readonly #storedAs: string;
  #commands: readonly string[];
  /** The operator's place in the history. The place after the last command is the line that is being typed. */
  #place: number;
  #draft = '';

  /**
   * `owner`: the id of the session, so that the next operator who signs in here cannot read these commands.
   * `target`: what gets the commands, such as an instance.
   */
  constructor(storage: CommandStorage, owner: string, target: string) {
    this.#storage = storage;
    this.#owner = owner;
    this.#storedAs = `drover-commands ${target}`;
    const stored: Stored | null = JSON.parse(storage.getItem(this.#storedAs) ?? 'null');
    this.#commands = stored?.owner === owner ? stored.commands : [];
    this.#place = this.#commands.length;
  }

  /** The sent commands, the oldest first. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** True while an earlier command is shown. */
  get isRecalling(): boolean {
    return this.#place < this.#commands.length;
  }

  add(command: string): void {
    this.#commands = [...this.#commands.filter((one) => one !== command), command].slice(-MOST);
    this.#draft = '';
    this.rest();
    const stored: Stored = { owner: this.#owner, commands: this.#commands };
    this.#storage.setItem(this.#storedAs, JSON.stringify(stored));
  }

  /** Goes back to the line that is being typed. */
  rest(): void {
    this.#place = this.#commands.length;
  }

  /** The command before the shown one; undefined: there is none. `typed` is kept for the way back. */
  older(typed: string): string | undefined {
    if (this.#place === 0) return undefined;
    if (!this.isRecalling) this.#draft = typed;
    return this.#commands[--this.#place];
  }

  /** The command after the shown one, and at last the line that was being typed; undefined: nothing follows. */
  newer(): string | undefined {
    if (!this.isRecalling) return undefined;
    this.#place++;
    return this.#commands[this.#place] ?? this.#draft;
  }
}
