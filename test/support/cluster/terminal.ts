/**
 * A shell into which a test types the lines of a page, block by block. Jobs, variables and the directory stay between
 * blocks.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.js';

export class Terminal {
  /** Resolves when the shell has ended. */
  readonly ended: Promise<unknown>;
  readonly #child: ChildProcess;
  /**
   * The directory of the block files. The shell does not read blocks from its input, because the programs that it
   * starts would read that input too.
   */
  readonly #directory: string;
  readonly #id = crypto.randomUUID();
  #blocks = 0;
  #output = '';

  constructor([program = '', ...parameters]: readonly string[], env: NodeJS.ProcessEnv, directory: string) {
    this.#directory = directory;
    const child = spawn(program, parameters, { env, stdio: 'pipe' });
    this.#child = child;
    this.ended = once(child, 'close');
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    // The end of the machine ends the shell, and input typed afterwards is lost.
    child.stdin.on('error', () => undefined);
    child.stdin.write('set -e\nexec 2>&1\n');
  }

  /** The output of the shell so far. */
  get output(): string {
    return this.#output;
  }

  /** Types the lines, without waiting until they have run. */
  type(lines: readonly string[]): void {
    this.#blocks++;
    const file = join(this.#directory, `${this.#id}-${this.#blocks}`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    this.#child.stdin?.write(`. '${file}' </dev/null\necho "${this.#mark()}"\n`);
  }

  /** Types the lines, and waits until they have run. Throws with the output when a line fails. */
  async run(lines: readonly string[]): Promise<string> {
    const from = this.#output.length;
    this.type(lines);
    let isOver = false;
    await until(() => {
      isOver = this.#child.exitCode !== null || this.#child.signalCode !== null;
      if (!isOver && !this.#output.includes(this.#mark()))
        throw new Error(`still at work: ${lines.join('\n')}\n${this.#output.slice(from)}`);
    });
    const said = this.#output.slice(from);
    if (isOver) throw new Error(`failed: ${lines.join('\n')}\n${said}`);
    return said.replace(`${this.#mark()}\n`, '');
  }

  /** The line that the shell prints after a block. */
  #mark(): string {
    return `=== ${this.#id} ${this.#blocks} ===`;
  }
}
