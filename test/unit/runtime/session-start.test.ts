/** What a session's beginning looks like from its directory. The tool is screen's own words and nothing else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RunDirectory } from '../../../src/runtime/session/run-directory.js';
import { RunDirectoryWatch } from '../../../src/runtime/session/run-directory-watch.js';
import { splitClosingWords } from '../../../src/runtime/session/screen/screen-tool.js';
import { untilBegun, WindowLost } from '../../../src/runtime/session/session-start.js';

const LOST = '\n\r=== Command detached from window (Mon Nov 23 04:06:13 2026) ===';

let parent: string;
let run: RunDirectory;
let watch: RunDirectoryWatch;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'drover-session-start-'));
  run = new RunDirectory(parent, { instanceId: 'aaaaaa', run: 1 });
  mkdirSync(run.directory);
  watch = new RunDirectoryWatch(run.directory, () => undefined);
});
afterEach(() => {
  watch.close();
  rmSync(parent, { recursive: true });
});

const begun = () =>
  untilBegun({
    tool: { key: 'screen', isServed: () => true, readEnd: splitClosingWords },
    run,
    watch,
    buffer: Buffer.alloc(4096),
    patienceMs: 20,
  });

it('is lost when screen says so before the shell has run, and at once', async () => {
  writeFileSync(join(run.directory, 'spool.000000'), LOST);
  await expect(begun()).rejects.toThrow(WindowLost);
});

it('is not lost by these words when the shell runs: the command may have printed them', async () => {
  writeFileSync(join(run.directory, 'spool.000000'), LOST);
  writeFileSync(join(run.directory, 'pid'), '12 (sh) S');
  await expect(begun()).rejects.toThrow('the screen session did not begin: silent for 0.02 s');
});
