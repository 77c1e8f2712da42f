/**
 * The directory of one run. It holds everything that a new owner needs to replace a killed owner. Files are written
 * beside and then renamed, so that a reader finds either the old or the new file.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type ProcessStamp, parseStat } from '../../files/processes.js';
import { replaceFileSync } from '../../files/replace-file-sync.js';
import { systemCodeOf } from '../../files/system-error.js';
import { attempt } from '../../model/plain/attempt.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';
import { type Check, fields, isLog, isNumber, isText, orNone, orNull } from '../owner/checks.js';
import type { OwnerExit, StartRequest } from '../owner/protocol.js';
import { parseStatus } from './session-prelude.js';
import type { SessionExit, SessionRun } from './session-tool.js';

const REMOVAL_TRIES = 5;
const REMOVAL_RETRY_MS = 50;
/** The kernel's number for terminals below /dev/pts. */
const PTS_MAJOR = 136;

/** The facts that are decided when the run begins. */
export interface RunRecord {
  readonly bootId: string;
  /** A secret of the session's shell: see `endMark` in session-prelude.ts. */
  readonly nonce: string;
  readonly log: StartRequest['log'];
  /** True when values are covered in the log. */
  readonly hides?: boolean | undefined;
  /** The inode of the run's directory. A copied root has another one: its copied runs are those of the original. */
  readonly inode?: number | undefined;
}

export interface SpoolPlace {
  readonly file: number;
  readonly offset: number;
}

/**
 * Matching places in spool and log: what follows `log` in the log comes from what follows `spool` in the spool. `log`
 * is null when the log could not be opened yet.
 */
export interface OutputPlace {
  readonly spool: SpoolPlace;
  readonly log: LogPlace | null;
  /** The place in the log at which the run's output begins. */
  readonly from: LogPlace | null;
}

const NAME = /^([a-z0-9]{6})\.(\d+)$/;

const isRecord = fields<RunRecord>({
  bootId: isText,
  nonce: isText,
  log: isLog,
  hides: orNone((value) => typeof value === 'boolean'),
  inode: orNone(isNumber),
});
const isLogPlace = fields<LogPlace>({ segment: isNumber, offset: isNumber });
const isPlace = fields<OutputPlace>({
  spool: fields<SpoolPlace>({ file: isNumber, offset: isNumber }),
  log: orNull(isLogPlace),
  from: orNull(isLogPlace),
});
const isExit = fields<OwnerExit>({
  code: orNull(isNumber),
  signal: orNull(isText),
  at: isNumber,
  ticks: isNumber,
  output: orNone(fields<OutputSpan>({ from: isLogPlace, to: isLogPlace })),
});

export class RunDirectory implements SessionRun {
  readonly instanceId: string;
  readonly run: number;
  readonly name: string;
  readonly directory: string;
  /** The content of the file `pid`, which the session's shell wrote; as last read. */
  #shell = '';

  constructor(parent: string, { instanceId, run }: { readonly instanceId: string; readonly run: number }) {
    this.instanceId = instanceId;
    this.run = run;
    this.name = `${instanceId}-${run}`;
    this.directory = join(parent, `${instanceId}.${run}`);
  }

  /** All run directories in `parent`. Entries with other names are ignored. */
  static all(parent: string): RunDirectory[] {
    return readdirSync(parent).flatMap((name) => {
      const [, instanceId, run] = NAME.exec(name) ?? [];
      return instanceId === undefined ? [] : [new RunDirectory(parent, { instanceId, run: Number(run) })];
    });
  }

  /** Creates the directory with only the record in it; an old directory is removed. */
  async create(record: RunRecord): Promise<void> {
    await this.remove();
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.#write('run.json', { ...record, inode: this.#inode });
  }

  /** True when the directory, or all in it, was removed from outside. */
  get isRemoved(): boolean {
    return !existsSync(join(this.directory, 'run.json'));
  }

  /** Creates the directory anew, with the processes of the session that goes on. */
  async restore(record: RunRecord): Promise<void> {
    await this.create(record);
    writeFileSync(join(this.directory, 'pid'), this.#shell, { mode: 0o600 });
  }

  /**
   * Removes the directory and its files; links are never followed. Tries again when the tool's last programs still
   * write into it.
   */
  async remove(): Promise<void> {
    for (let triesLeft = REMOVAL_TRIES; ; triesLeft--)
      try {
        for (const name of await readdir(this.directory)) await unlink(join(this.directory, name));
        return await rmdir(this.directory);
      } catch (error) {
        const code = systemCodeOf(error);
        if (code === 'ENOENT' && !existsSync(this.directory)) return;
        if ((code !== 'ENOENT' && code !== 'ENOTEMPTY') || triesLeft <= 0) throw error;
        await setTimeout(REMOVAL_RETRY_MS);
      }
  }

  get record(): RunRecord | undefined {
    return this.#read('run.json', isRecord);
  }

  /** True when this directory was copied from another root, whose owner holds the run. */
  get isCopied(): boolean {
    const inode = this.record?.inode;
    return inode !== undefined && inode !== this.#inode;
  }

  get #inode(): number {
    return statSync(this.directory).ino;
  }

  get place(): OutputPlace | undefined {
    return this.#read('place.json', isPlace);
  }

  /** Saves the place. False: the disk did not take the file, and the old file stays. */
  savePlace(place: OutputPlace): boolean {
    return attempt(() => {
      this.#write('place.json', place);
      return true;
    }, false);
  }

  get exit(): OwnerExit | undefined {
    return this.#read('exit.json', isExit);
  }

  /** Saves the exit. Throws the disk's error. */
  saveExit(exit: OwnerExit): void {
    this.#write('exit.json', exit);
  }

  /** The session's shell and program; undefined until both have begun. */
  get processes(): { readonly shell: ProcessStamp; readonly program: ProcessStamp } | undefined {
    this.#shell = this.#text('pid') || this.#shell;
    const [shell, program] = this.#shell.split('\n').map(readStamp);
    return shell === undefined || program === undefined ? undefined : { shell, program };
  }

  /** True when the session's shell has begun, which it writes down first of all. */
  get hasShell(): boolean {
    return this.#text('pid') !== '';
  }

  /** The session's terminal, `/dev/pts/<number>`; undefined until its shell has begun. */
  get terminal(): string | undefined {
    return readTerminal(this.#text('pid'));
  }

  /** The exit of the command, as the session's shell wrote it into a file. */
  get status(): SessionExit | undefined {
    return parseStatus(this.#text('status'));
  }

  /** The messages that the tool's own programs printed. */
  toolWords(tool: string): string {
    return this.#text(`${tool}.log`).trim();
  }

  /** When the spool was last written, in Unix milliseconds; undefined: never. */
  get lastOutputAt(): number | undefined {
    const name = readdirSync(this.directory)
      .filter((entry) => entry.startsWith('spool.'))
      .sort()
      .at(-1);
    return name === undefined ? undefined : statSync(join(this.directory, name)).mtimeMs;
  }

  #text(name: string): string {
    return attempt(() => readFileSync(join(this.directory, name), 'utf8'), '');
  }

  #read<T>(name: string, isValid: Check<T>): T | undefined {
    return attempt(() => {
      const value: unknown = JSON.parse(this.#text(name));
      return isValid(value) ? value : undefined;
    });
  }

  #write(name: string, value: RunRecord | OutputPlace | OwnerExit): void {
    replaceFileSync(join(this.directory, name), JSON.stringify(value));
  }
}

/** The terminal in a line of /proc/<pid>/stat, whose field 7 is its device number. */
function readTerminal(line: string): string | undefined {
  const device = Number(line.slice(line.indexOf(')') + 2).split(' ')[4]);
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  return major === PTS_MAJOR ? `/dev/pts/${minor}` : undefined;
}

/** The pid and start time in a line of /proc/<pid>/stat (fields 1 and 22). */
function readStamp(line: string): ProcessStamp | undefined {
  const { pid, startTime } = parseStat(line);
  return Number.isInteger(pid) && Number.isInteger(startTime) ? { pid, startTime } : undefined;
}
