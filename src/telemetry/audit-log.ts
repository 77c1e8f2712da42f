/**
 * The audit trail on disk: a JSON line for every action that was done or refused, in `logs/audit.log`. Rotation bounds
 * it, and only the owner can read it. Memory keeps the last entries too, including those of earlier runs.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isMissing } from '../files/system-error.js';
import { type AuditEntry, type AuditTrail, auditEntrySchema } from '../model/audit.js';
import { messageOf, unusableRoot } from '../model/errors.js';
import { attempt } from '../model/plain/attempt.js';
import { cutText } from '../model/words.js';
import type { Logger } from './logger.js';
import { toPlainText } from './plain-text.js';
import { RotatingFile } from './rotating-file.js';
import { hideTokens } from './secret-fields.js';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const FILES = 4;
/** The most entries that `last` returns. */
const AUDIT_ENTRIES_KEPT = 1000;
/**
 * How many bytes of each file are read at the start: enough for all kept entries, unless an entry takes 2 KiB on
 * average.
 */
const TAIL_BYTES = 2 * 1024 * 1024;
/** The longest action or subject. A client may choose both, and must not fill the trail with a single request. */
const MAX_FIELD_CHARS = 500;

interface AuditLogOptions {
  /** The absolute path of the current file; older files are `.1`, `.2`, `.3` beside it. */
  readonly path: string;
  /** The wall clock in Unix milliseconds. */
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn'>;
  /** Called with each recorded entry. Default: nothing. */
  readonly onEntry?: (entry: AuditEntry) => void;
}

export class AuditLog implements AuditTrail {
  readonly #options: AuditLogOptions;
  readonly #file: RotatingFile;
  /** The entries, oldest first. It grows to twice the kept entries, so that it is cut rarely. */
  #entries: AuditEntry[];

  /** Opens the file. Throws DRV_NODE_ROOT_UNUSABLE when it cannot be opened at all. */
  constructor(options: AuditLogOptions) {
    this.#options = options;
    const own = (subject: string): string =>
      lineOf({ at: options.now(), key: null, action: 'audit', subject, address: null, result: 'failed' });
    try {
      this.#file = new RotatingFile({
        path: options.path,
        maxBytes: MAX_FILE_BYTES,
        files: FILES,
        mode: 0o600,
        lostLine: (lines) => own(`${lines} entries were lost: the file could not be written`),
        removedLine: () => own('the file was removed or renamed while Drover wrote to it'),
      });
      this.#entries = readEnd(options.path);
    } catch (cause) {
      const text = `${options.path} cannot be used: ${messageOf(cause)}; it must be a file of this user`;
      throw unusableRoot(text, { cause });
    }
  }

  /**
   * Records an entry, which is on its way to the disk when this returns. A full disk loses entries; a later line tells
   * how many.
   */
  record(entry: Omit<AuditEntry, 'at'>): void {
    const whole = shorten({ at: this.#options.now(), ...entry });
    this.#options.onEntry?.(whole);
    this.#entries.push(whole);
    if (this.#entries.length > 2 * AUDIT_ENTRIES_KEPT)
      this.#entries = this.#entries.slice(-AUDIT_ENTRIES_KEPT);
    this.#file.write(lineOf(whole));
    if (this.#file.lost === 1)
      this.#options.logger.warn('audit entries are being lost: logs/audit.log cannot be written');
  }

  last(count: number): readonly AuditEntry[] {
    return count < 1 ? [] : this.#entries.slice(-Math.min(count, AUDIT_ENTRIES_KEPT));
  }

  /** Closes the file; later entries are kept in memory only. Idempotent. */
  close(): void {
    this.#file.close();
  }
}

function lineOf(entry: AuditEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

function shorten(entry: AuditEntry): AuditEntry {
  const { action, subject } = entry;
  return { ...entry, action: clean(action), subject: subject === null ? null : clean(subject) };
}

function clean(text: string): string {
  // Remove control characters, because operators read the trail with tools that print them unchanged.
  return cutText(hideTokens(toPlainText(text.replace(/\s+/g, ' '))), MAX_FIELD_CHARS);
}

/**
 * The newest entries of all files, oldest first. Lines that are no entry, such as a line cut off by a crash, are left
 * out.
 */
function readEnd(path: string): AuditEntry[] {
  let entries: AuditEntry[] = [];
  for (let index = 0; index < FILES && entries.length < AUDIT_ENTRIES_KEPT; index++) {
    const file = index === 0 ? path : `${path}.${index}`;
    // The text ends with a newline, so it splits into one more piece than it has lines.
    const lines = readTail(file)
      .split('\n')
      .slice(-(AUDIT_ENTRIES_KEPT + 1));
    entries = [...lines.flatMap(parseLine), ...entries].slice(-AUDIT_ENTRIES_KEPT);
  }
  return entries;
}

function parseLine(line: string): AuditEntry[] {
  return attempt(() => {
    const { success, data } = auditEntrySchema.safeParse(JSON.parse(line));
    return success ? [data] : [];
  }, []);
}

/** The end of a file; empty when the file does not exist. */
function readTail(path: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(descriptor);
  }
}
