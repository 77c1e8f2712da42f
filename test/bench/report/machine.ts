/** Where and when figures were measured: what a second run must share with the first to be compared with it. */
import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { z } from 'zod';
import { REPOSITORY } from '../../support/repository-root.js';

export const machineSchema = z.object({
  cores: z.int(),
  cpu: z.string(),
  memoryMB: z.number(),
  kernel: z.string(),
  node: z.string(),
});
type Machine = z.infer<typeof machineSchema>;

export function thisMachine(): Machine {
  const all = cpus();
  return {
    cores: all.length,
    cpu: all[0]?.model.trim() ?? 'unknown',
    memoryMB: Math.round(totalmem() / 1024 / 1024),
    kernel: release(),
    node: process.version,
  };
}

/** `2 x Some CPU, 23 GB, Linux 6.1, Node v24` */
export function describeMachine({ cores, cpu, memoryMB, kernel, node }: Machine): string {
  return `${cores} x ${cpu}, ${Math.round(memoryMB / 1024)} GB, Linux ${kernel}, Node ${node}`;
}

/** `+` behind it: with changes that are not committed. Null outside of a checkout. */
export function currentCommit(): string | null {
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', REPOSITORY, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return git('rev-parse', '--short=10', 'HEAD').trim() + (isChanged ? '+' : '');
  } catch {
    return null;
  }
}
