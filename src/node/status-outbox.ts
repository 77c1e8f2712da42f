/**
 * Keeps the latest report of each instance until the master has it on disk. A newer report replaces an older one, and a
 * new connection sends everything again. The reports are in memory only: after a restart the supervisor reports anew.
 */

import { BOUNDS, type Report } from '../channel/protocol/messages.js';
import { Bell } from '../loop/bell.js';
import { isSameValue } from '../model/plain/same-value.js';
import { cutToBytes } from '../model/words.js';

/** The most unacknowledged messages. Further reports wait here, and a newer report replaces an older one. */
const MOST_UNACKNOWLEDGED = 32;

export class StatusOutbox {
  readonly #latest = new Map<string, Report>();
  readonly #unsent = new Set<string>();
  /** The reports of each unacknowledged message, by sequence number. */
  readonly #sent = new Map<number, readonly Report[]>();
  readonly #emptied = new Bell();
  #isScheduled = false;
  #listener: (() => void) | undefined;

  /** Sets the report of an instance. A report equal to the former one is not sent again. */
  set(said: Report): void {
    const report = withinBounds(said);
    const before = this.#latest.get(report.id);
    if (before !== undefined && isSameReport(before, report)) return;
    this.#latest.set(report.id, report);
    this.#unsent.add(report.id);
    this.#schedule();
  }

  get(id: string): Report | undefined {
    return this.#latest.get(id);
  }

  /** Drops the report of an instance that this node no longer holds. */
  forget(id: string): void {
    this.#latest.delete(id);
    this.#unsent.delete(id);
  }

  /** Sets the only listener. It is called in a later microtask when there are reports to send. */
  onReady(listener: () => void): void {
    this.#listener = listener;
  }

  /** The reports of the next message; empty while too many messages are unacknowledged. */
  take(sequence: number): readonly Report[] {
    const reports: Report[] = [];
    if (this.#sent.size >= MOST_UNACKNOWLEDGED) return reports;
    for (const id of this.#unsent) {
      if (reports.length >= BOUNDS.reports) {
        this.#schedule();
        break;
      }
      this.#unsent.delete(id);
      const report = this.#latest.get(id);
      if (report !== undefined) reports.push(report);
    }
    if (reports.length > 0) this.#sent.set(sequence, reports);
    return reports;
  }

  acknowledge(sequence: number): void {
    const wasFull = this.#sent.size >= MOST_UNACKNOWLEDGED;
    this.#sent.delete(sequence);
    if (wasFull && this.#unsent.size > 0) this.#schedule();
    if (this.isEmpty) this.#emptied.ring();
  }

  /** Resolves when the master has everything that was reported before the call. */
  async whenEmpty(): Promise<void> {
    if (!this.isEmpty) await this.#emptied.wait();
  }

  /** True when the master has every report. */
  get isEmpty(): boolean {
    return this.#unsent.size === 0 && this.#sent.size === 0;
  }

  restart(): void {
    this.#sent.clear();
    for (const id of this.#latest.keys()) this.#unsent.add(id);
    if (this.#unsent.size > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#listener?.();
    });
  }
}

/** Cuts the texts of a report to the limits of the protocol, because a runtime's messages may be of any length. */
function withinBounds(report: Report): Report {
  const { message, exitSignal } = report;
  if (message === null && exitSignal === null) return report;
  return {
    ...report,
    message: message === null ? null : cutToBytes(message, BOUNDS.sentenceBytes),
    exitSignal: exitSignal === null ? null : cutToBytes(exitSignal, BOUNDS.signalBytes),
  };
}

/** True when both reports have the same content. */
export function isSameReport(a: Report, b: Report): boolean {
  // Compare the number of fields too: a field that only `a` has, such as a warning that ended, is a change.
  if (Object.keys(a).length !== Object.keys(b).length) return false;
  return (Object.keys(b) as (keyof Report)[]).every((field) => isSameValue(a[field], b[field]));
}
