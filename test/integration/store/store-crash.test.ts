/** What was acknowledged survives SIGKILL in the middle of writing. Needs `npm run build` for the writing program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../../src/store/lmdb/open.js';
import { drawn } from '../../support/drawn.js';
import { REPOSITORY } from '../../support/repository-root.js';

const PROGRAM = join(REPOSITORY, 'build/test/support/daemon/store-writer.js');
const ROUNDS = 5;

const lineSchema = z.union([
  z.object({ opened: z.number() }),
  z.object({ slot: z.number(), n: z.number(), revision: z.number() }),
]);

/** Everything that the writers said, over all rounds. */
class Acknowledged {
  revision = 0;
  readonly bySlot = new Map<number, number>();
  lines = 0;
  readonly faults: string[] = [];

  take(text: string): void {
    const line = lineSchema.parse(JSON.parse(text));
    this.lines++;
    if ('opened' in line) {
      if (line.opened < this.revision) this.faults.push(`opened at ${line.opened} after ${this.revision}`);
      return;
    }
    this.revision = Math.max(this.revision, line.revision);
    this.bySlot.set(line.slot, Math.max(line.n, this.bySlot.get(line.slot) ?? 0));
  }
}

let directory: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'drover-crash-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(directory, { recursive: true });
});

/** Lets a writer run until it has said `lines` lines, then kills it; also takes what it had said meanwhile. */
async function writeAndKill(acknowledged: Acknowledged, lines: number): Promise<void> {
  const writer = spawn(process.execPath, [PROGRAM, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  child = writer;
  const exited = once(writer, 'exit');
  const killAt = acknowledged.lines + lines;
  for await (const text of createInterface({ input: writer.stdout })) {
    // The last line may be cut in half by the kill.
    if (text.endsWith('}')) acknowledged.take(text);
    if (acknowledged.lines >= killAt) writer.kill('SIGKILL');
  }
  await exited;
  expect(writer.signalCode).toBe('SIGKILL');
}

async function expectEverything(acknowledged: Acknowledged): Promise<void> {
  const store = await openStore({ directory });
  try {
    expect(await store.barrier()).toBeGreaterThanOrEqual(acknowledged.revision);
    for (const [slot, n] of acknowledged.bySlot) {
      const left = (await store.get(`left/${slot}`))?.value;
      expect(left).toBeGreaterThanOrEqual(n);
      expect((await store.get(`right/${slot}`))?.value).toBe(left);
    }
  } finally {
    await store.close();
  }
}

it('keeps every acknowledged transaction, whole, when the writer is killed at random moments', async () => {
  const acknowledged = new Acknowledged();
  const chance = drawn('store-crash');
  for (let round = 0; round < ROUNDS; round++) {
    await writeAndKill(acknowledged, 1 + chance.below(1500));
    await expectEverything(acknowledged);
  }
  expect(acknowledged.faults).toEqual([]);
  expect(acknowledged.bySlot.size).toBeGreaterThan(0);
});
