/** The copied directory of a run, as in a copied root, is not taken for the run of the original. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunDirectory } from '../../../src/runtime/session/run-directory.js';

it('is told from the original', async () => {
  const base = mkdtempSync(join(tmpdir(), 'drover-copied-run-'));
  const run = { instanceId: 'aaaaaa', run: 1 };
  const original = new RunDirectory(base, run);
  await original.create({
    bootId: 'boot',
    nonce: 'n',
    log: { directory: base, segmentBytes: 1000, segments: 2 },
  });
  cpSync(base, `${base}-copy`, { recursive: true });
  expect(original.record).toMatchObject({ bootId: 'boot' });
  expect(original.isCopied).toBe(false);
  expect(new RunDirectory(`${base}-copy`, run).isCopied).toBe(true);
  rmSync(base, { recursive: true });
  rmSync(`${base}-copy`, { recursive: true });
});
