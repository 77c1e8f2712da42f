/**
 * The audit trail on disk: one JSON line for every action that was done or refused, in `logs/audit.log`. Rotation
 * bounds it, and only the owner can read it. The last entries, those of earlier runs included, are kept in memory too.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isMissing } from '../files/system-error.js';
import { type AuditEntry, type AuditTrail, auditEntrySchema } from '../model/audit.js';
import { DroverError, messageOf } from '../model/errors.js';
import { cutText } from '../model/words.js';
import type { Logger } from './logger.js';
import { toPlainText } from './plain-text.js';
import { RotatingFile } from './rotating-file.js';
import { hideTokens } from './secret-fields.js';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const FILES = 4;
/** The most entries that `last` can answer. */
const AUDIT_ENTRIES_KEPT = 1000;
/** Bytes read of each file at the start: enough for all entries kept, unless each has a kilobyte or more. */
const TAIL_BYTES = 2 * 1024 * 1024;
/** A client, who may choose subject or action, must not be able to fill the trail with one request. */
const MAX_FIELD_CHARS = 500;

export interface AuditLogOptions {
  /** Absolute path of the current file; older ones are `.1`, `.2`, `.3` beside it. */
  readonly path: string;
  /** Wall clock, Unix milliseconds. */
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn'>;
}

export class AuditLog implements AuditTrail {
  readonly #options: AuditLogOptions;
  readonly #file: RotatingFile;
  /** Oldest first. Up to twice as many as are kept, so that the list is cut rarely. */
  #entries: AuditEntry[];

  /** Throws DRV_NODE_ROOT_UNUSABLE when the file cannot be opened at all. */
  constructor(options: AuditLogOptions) {
    this.#options = options;
    try {
      this.#file = openFile(options);
      this.#entries = readEnd(options.path);
    } catch (cause) {
      const text = `${options.path} cannot be used: ${messageOf(cause)}; it must be a file of this user`;
      throw new DroverError('DRV_NODE_ROOT_UNUSABLE', text, { cause });
    }
  }

  /**
   * Records an entry, which is on its way to the disk when this returns. A full disk loses entries; one line later says
   * how many.
   */
  record(entry: Omit<AuditEntry, 'at'>): void {
    const whole = shorten({ at: this.#options.now(), ...entry });
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

  /** Idempotent. Later entries are kept in memory only. */
  close(): void {
    this.#file.close();
  }
}

function openFile({ path, now }: AuditLogOptions): RotatingFile {
  return new RotatingFile({
    path,
    maxBytes: MAX_FILE_BYTES,
    files: FILES,
    mode: 0o600,
    lostLine: (lines) => lineOf(lostEntry(lines, now())),
  });
}

function lineOf(entry: AuditEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

function shorten(entry: AuditEntry): AuditEntry {
  const { action, subject } = entry;
  return { ...entry, action: clean(action), subject: subject === null ? null : clean(subject) };
}

function clean(text: string): string {
  // Operators read the trail with tools that print control characters as they are.
  return cutText(hideTokens(toPlainText(text.replace(/\s+/g, ' '))), MAX_FIELD_CHARS);
}

function lostEntry(lines: number, at: number): AuditEntry {
  const subject = `${lines} entries were lost: the file could not be written`;
  return { at, key: null, action: 'audit', subject, address: null, result: 'failed' };
}

/**
 * The newest entries of all files, oldest first. Lines that are no entry, such as one cut off by a crash, are left out.
 */
function readEnd(path: string): AuditEntry[] {
  let entries: AuditEntry[] = [];
  for (let index = 0; index < FILES && entries.length < AUDIT_ENTRIES_KEPT; index++) {
    const file = index === 0 ? path : `${path}.${index}`;
    // The text ends with a newline: one piece more than lines.
    const lines = readTail(file)
      .split('\n')
      .slice(-(AUDIT_ENTRIES_KEPT + 1));
    entries = [...lines.flatMap(parseLine), ...entries].slice(-AUDIT_ENTRIES_KEPT);
  }
  return entries;
}

function parseLine(line: string): AuditEntry[] {
  try {
    const { success, data } = auditEntrySchema.safeParse(JSON.parse(line));
    return success ? [data] : [];
  } catch {
    return [];
  }
}

/** Empty when there is no such file. */
function readTail(path: string): string {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return '';
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
