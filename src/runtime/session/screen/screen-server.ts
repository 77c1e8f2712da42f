/**
 * The screen servers of a root. Each session has its own server, with a socket `<pid>.<name>` in the root's own
 * directory. A server is known by pid and start time, which are noted in its run's directory. When an owner was killed
 * before the note, socket and command line tell the server. So neither a stale socket nor a reused pid is taken for a
 * server.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  isRunning,
  notedProcess,
  noteProcess,
  type ProcessStamp,
  readProcess,
} from '../../../files/processes.js';
import { attempt } from '../../../model/plain/attempt.js';
import type { SessionRun } from '../session-tool.js';

const SOCKET = /^(\d+)\.(.+)$/;

export class ScreenServers {
  readonly #directory: string;
  readonly #known = new Map<string, ProcessStamp>();

  constructor(socketDirectory: string) {
    this.#directory = socketDirectory;
  }

  /** Notes the server of a run that was just started. */
  add(run: SessionRun, pid: number): void {
    const startTime = readProcess(pid)?.startTime;
    if (startTime === undefined) return;
    this.#known.set(run.name, { pid, startTime });
    noteProcess(noteOf(run), { pid, startTime });
  }

  /** The live server of this run's session. Reads only one file when the server is known. */
  find(run: SessionRun): ProcessStamp | undefined {
    if (!this.#known.has(run.name)) this.#learn(run);
    const server = this.#known.get(run.name);
    return server !== undefined && isRunning(server) ? server : undefined;
  }

  /** The names of all sessions that have a live server and a socket. */
  names(): ReadonlySet<string> {
    return new Set(this.#sockets().map(({ name }) => name));
  }

  socketOf({ name }: SessionRun, { pid }: ProcessStamp): string {
    return join(this.#directory, `${pid}.${name}`);
  }

  /** Forgets the server of an ended session, and removes the sockets that the server left. */
  forget(run: SessionRun): void {
    const known = this.#known.get(run.name);
    this.#known.delete(run.name);
    if (known !== undefined) this.clear(run, known);
  }

  /** Removes the sockets of an ended server: its own, and those of callers that still waited for an answer. */
  clear(run: SessionRun, server: ProcessStamp): void {
    if (isRunning(server)) return;
    const own = this.socketOf(run, server);
    rmSync(own, { force: true });
    for (const entry of readdirSync(this.#directory)) {
      const path = join(this.#directory, entry);
      if (path.startsWith(`${own}-query`)) rmSync(path, { force: true });
    }
  }

  #learn(run: SessionRun): void {
    const noted = notedProcess(noteOf(run));
    if (noted !== undefined) {
      this.#known.set(run.name, noted);
      return;
    }
    const found = this.#sockets().find(({ name }) => name === run.name);
    if (found !== undefined) this.add(run, found.pid);
  }

  #sockets(): { readonly name: string; readonly pid: number }[] {
    return readdirSync(this.#directory).flatMap((entry) => {
      const [, digits, name] = SOCKET.exec(entry) ?? [];
      const pid = Number(digits);
      return name !== undefined && isServerOf(pid, name) ? [{ name, pid }] : [];
    });
  }
}

function noteOf({ directory }: SessionRun): string {
  return join(directory, 'screen.server');
}

function isServerOf(pid: number, name: string): boolean {
  return attempt(() => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words[words.indexOf('-S') + 1] === name;
  }, false);
}
