/**
 * All sessions of one tool under one root, for their owner: starts sessions, and takes over those of an earlier owner.
 */
import { mkdirSync } from 'node:fs';
import type { HeldRun, RunEvents, RunSource } from '../owner/held-run.js';
import type { Owner } from '../owner/owner.js';
import type { StartRequest } from '../owner/protocol.js';
import { HeldSession, type SessionServices } from './held-session.js';
import { RunDirectory } from './run-directory.js';
import type { SessionTool } from './session-tool.js';

const READ_BUFFER_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 2000;

export interface SessionsOptions {
  readonly tool: SessionTool;
  /** The directory that holds the directories of the runs. Made with mode 0700 when missing. */
  readonly directory: string;
  readonly bootId: string;
  /** The directories in which programs are searched, as in PATH. */
  readonly path: string;
}

export class Sessions implements RunSource {
  readonly #options: SessionsOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  /** The sessions that have not ended. */
  readonly #live = new Map<string, HeldSession>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    options.tool.onGone?.((name) => this.#live.get(name)?.look());
  }

  async start(request: StartRequest, events: RunEvents): Promise<HeldRun> {
    const directory = new RunDirectory(this.#options.directory, request);
    const session = await HeldSession.start(request, directory, this.#services(events.onExit));
    this.#add(session);
    events.onReady(session);
    return session;
  }

  /** Hands all sessions of an earlier owner to `owner`. */
  async takeUp(owner: Owner): Promise<void> {
    const { tool, directory } = this.#options;
    // Lets the tool learn which servers exist.
    await tool.list();
    const services = this.#services((session) => owner.noteExit(session));
    const takeUp = async (run: RunDirectory): Promise<void> => {
      try {
        const session = await HeldSession.takeUp(run, services);
        if (session === undefined) return;
        owner.hold(session);
        this.#add(session);
      } catch (error) {
        process.stderr.write(`${run.name} cannot be taken up: ${error}\n`);
      }
    };
    await Promise.all(RunDirectory.all(directory).map(takeUp));
    void this.#takeUpTerminals();
  }

  /** Takes over terminals one after the other, because there may be hundreds and nobody waits. */
  async #takeUpTerminals(): Promise<void> {
    for (const session of [...this.#live.values()]) await session.takeUpTerminal();
  }

  #services(onExit: (session: HeldRun) => void): SessionServices {
    const { tool, bootId, path } = this.#options;
    return {
      tool,
      bootId,
      path,
      buffer: this.#buffer,
      onExit: (session) => {
        this.#live.delete(session.name);
        if (this.#live.size === 0) clearInterval(this.#timer);
        onExit(session);
      },
    };
  }

  #add(session: HeldSession): void {
    if (session.exit !== null) return;
    if (this.#live.size === 0) this.#timer = setInterval(() => this.#lookAtAll(), LOOK_EVERY_MS);
    this.#live.set(session.name, session);
  }

  #lookAtAll(): void {
    for (const session of this.#live.values()) session.look();
  }
}
