/** The commands that this tab has sent to an instance, as a shell remembers them. They end with the session. */

/** The part of the browser's sessionStorage that is used here. */
interface CommandStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const MOST = 50;

export class CommandHistory {
  readonly #storage: CommandStorage;
  readonly #storedAs: string;
  #commands: readonly string[];
  /** The place of the operator in the history; the length: the line that he types. */
  #place: number;
  #draft = '';

  /** `owner`: the id of the session. The next operator who signs in here does not read these commands. */
  constructor(storage: CommandStorage, owner: string, instance: string) {
    this.#storage = storage;
    this.#storedAs = `drover-commands ${owner} ${instance}`;
    this.#commands = readCommands(storage.getItem(this.#storedAs));
    this.#place = this.#commands.length;
  }

  /** The oldest first. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  add(command: string): void {
    const others = this.#commands.filter((one) => one !== command);
    this.#commands = [...others, command].slice(-MOST);
    this.#place = this.#commands.length;
    this.#draft = '';
    this.#storage.setItem(this.#storedAs, JSON.stringify(this.#commands));
  }

  /** The command before; `typed` is kept for the way back. Undefined: there is none. */
  older(typed: string): string | undefined {
    if (this.#place === 0) return undefined;
    if (this.#place === this.#commands.length) this.#draft = typed;
    return this.#commands[--this.#place];
  }

  /** The command after, and at last the line that was being typed. Undefined: there is none. */
  newer(): string | undefined {
    if (this.#place === this.#commands.length) return undefined;
    this.#place++;
    return this.#commands[this.#place] ?? this.#draft;
  }
}

function readCommands(stored: string | null): readonly string[] {
  if (stored === null) return [];
  const value: unknown = JSON.parse(stored);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
