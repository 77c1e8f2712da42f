/** A home directory for tests of the client, and the surroundings of a client there. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export class TemporaryHome {
  readonly path = mkdtempSync(join(tmpdir(), 'drover-home-'));
  readonly environment: NodeJS.ProcessEnv = { HOME: this.path, PATH: process.env.PATH };
  readonly contextsPath = join(this.path, '.config', 'drover', 'contexts.json');
  /** The lines on stderr. */
  readonly said: string[] = [];
  readonly say = (line: string): void => {
    this.said.push(line);
  };

  /** Writes a file below the home directory; returns its path. */
  write(name: string, text: string, mode = 0o600): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  }

  writeContexts(value: unknown, mode?: number): void {
    this.write('.config/drover/contexts.json', JSON.stringify(value), mode);
  }

  readContexts(): unknown {
    return JSON.parse(readFileSync(this.contextsPath, 'utf8'));
  }

  /** The surroundings that `choose-target.ts` and others take. */
  surroundings(variables: NodeJS.ProcessEnv = {}, directory = this.path) {
    return { environment: { ...this.environment, ...variables }, directory, say: this.say };
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
