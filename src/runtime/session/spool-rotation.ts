/** Asks a tool for the next spool file when the current one is large, so that the spool stays small. */
import type { OutputPump } from './output-pump.js';
import type { RunDirectory } from './run-directory.js';
import type { SessionTool } from './session-tool.js';

const LARGE_BYTES = 1024 * 1024;
/** After this many looks without the requested file, the file is requested again. */
const PATIENT_LOOKS = 2;

export class SpoolRotation {
  readonly #tool: SessionTool;
  readonly #directory: RunDirectory;
  #asked: { readonly after: number; looks: number } | undefined;

  constructor(tool: SessionTool, directory: RunDirectory) {
    this.#tool = tool;
    this.#directory = directory;
  }

  /** Called when some output was moved. */
  check({ spoolFile, spoolBytes }: Pick<OutputPump, 'spoolFile' | 'spoolBytes'>): void {
    if (spoolBytes < LARGE_BYTES || this.#asked?.after === spoolFile) return;
    this.#asked = { after: spoolFile, looks: 0 };
    this.#tool
      .rotate(this.#directory, spoolFile + 1)
      .catch((error: unknown) => process.stderr.write(`${this.#directory.name}: no rotation: ${error}\n`));
  }

  /** Called every 2 s. */
  look(): void {
    if (this.#asked !== undefined && ++this.#asked.looks > PATIENT_LOOKS) this.#asked = undefined;
  }
}
