/** A program of the cluster benchmark in a process of its own: the parent asks by name over IPC, the child answers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** More than any question takes that gets an answer at all. */
const PATIENCE_MS = 900_000;

const questionSchema = z.object({ ask: z.string(), about: z.string() });
const answerSchema = z.union([z.object({ answer: z.unknown() }), z.object({ error: z.string() })]);

export class BenchChild {
  readonly #program: string;
  readonly #child: ChildProcess;
  #isStopped = false;
  /** A frozen child would not see its parent go. */
  readonly #onExit = (): void => void this.#child.kill('SIGKILL');

  /** `program` is a file of this folder, built. `parameters` reach it as arguments. */
  constructor(program: string, ...parameters: readonly string[]) {
    this.#program = program;
    this.#child = fork(fileURLToPath(new URL(program, import.meta.url)), parameters);
    process.once('exit', this.#onExit);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** One question at a time. Throws when the child cannot answer, or ends. */
  async ask<T>(schema: z.ZodType<T>, ask: string, about = ''): Promise<T> {
    const waiting = new AbortController();
    const { signal } = waiting;
    const answered = once(this.#child, 'message', { signal });
    const ended = once(this.#child, 'exit', { signal }).then(([code]) => {
      throw new Error(`${this.#program} ended with ${code} when asked for ${ask}`);
    });
    const late = delay(PATIENCE_MS, undefined, { signal, ref: false }).then(() => {
      throw new Error(`${this.#program} has not answered ${ask} in ${PATIENCE_MS / 1000} s`);
    });
    this.#child.send({ ask, about });
    try {
      const said = answerSchema.parse((await Promise.race([answered, ended, late]))[0]);
      if ('error' in said) throw new Error(`${this.#program}, asked for ${ask}: ${said.error}`);
      return schema.parse(said.answer);
    } finally {
      ended.catch(() => undefined);
      late.catch(() => undefined);
      answered.catch(() => undefined);
      waiting.abort();
    }
  }

  /** Stops its event loop, as a suspended or starved machine does; its sockets stay open. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    process.off('exit', this.#onExit);
    if (this.#isStopped || this.#child.exitCode !== null) return;
    this.#isStopped = true;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** The child's side: answers until the parent is gone. */
export function answerQuestions(answers: Readonly<Record<string, (about: string) => unknown>>): void {
  process.on('message', (message) => {
    const { ask, about } = questionSchema.parse(message);
    Promise.resolve()
      .then(() => answers[ask]?.(about))
      .then(
        (answer) => process.send?.({ answer: answer ?? null }),
        (error: unknown) => process.send?.({ error: String(error) }),
      );
  });
  process.on('disconnect', () => process.exit(1));
}
