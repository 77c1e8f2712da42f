/** The source of runs of the `process` runtime: runs on terminals that the owner itself holds. */
import { existsSync } from 'node:fs';
import type { RunEvents, RunSource } from '../owner/held-run.js';
import type { StartRequest } from '../owner/protocol.js';
import { inheritableDescriptors } from './inheritable.js';
import type { NativePty } from './native-pty.js';
import { OwnedRun } from './owned-run.js';

const READ_BUFFER_BYTES = 64 * 1024;

export class TerminalRuns implements RunSource {
  readonly #native: NativePty;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly #hasBash = existsSync('/bin/bash');
  /** Descriptors that the starter of the daemon left open. */
  readonly #inherited = inheritableDescriptors();
  readonly #open = new Set<OwnedRun>();

  constructor(native: NativePty) {
    this.#native = native;
  }

  start(request: StartRequest, events: RunEvents): OwnedRun {
    const run = new OwnedRun(request, {
      native: this.#native,
      buffer: this.#buffer,
      hasBash: this.#hasBash,
      inheritable: this.#inheritable(),
      onReady: (started) => events.onReady(started),
      onExit: (ended) => events.onExit(ended),
    });
    this.#open.add(run);
    return run;
  }

  #inheritable(): number[] {
    const found = [...this.#inherited];
    for (const run of this.#open) {
      if (run.inheritable !== undefined) found.push(run.inheritable);
      else if (run.isClosed) this.#open.delete(run);
    }
    return found;
  }
}
