/** Input for a program that cannot read it is refused, seen on real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { refuseUnread } from '../../../src/runtime/owner/stdin-limits.js';
import { until } from '../../support/until.js';

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** Starts a command that ends in `sleep`; resolves once that runs. */
async function pidOf(command: string, stdin: 'pipe' | 'ignore'): Promise<number> {
  child = spawn('/bin/sh', ['-c', `${command}`], { stdio: [stdin, 'ignore', 'ignore'] });
  const pid = child.pid ?? 0;
  await until(() => expect(readlinkSync(`/proc/${pid}/exe`)).toMatch(/sleep|coreutils|busybox/));
  return pid;
}

it.each([
  ['exec sleep 60', 'ignore', /which is \/dev\/null: nothing was written/],
  ['exec sleep 60 <&-', 'pipe', /which is closed: nothing was written/],
] as const)('%s with %s', async (command, stdin, message) => {
  const pid = await pidOf(command, stdin);
  // While it starts, the first free descriptor is that of a library.
  await until(() => expect(() => refuseUnread(pid)).toThrow(message));
});

it('lets all other input pass, and says nothing of a process that is gone', async () => {
  const pid = await pidOf('exec sleep 60', 'pipe');
  expect(() => refuseUnread(pid)).not.toThrow();
  expect(() => refuseUnread(2 ** 30)).not.toThrow();
  expect(() => refuseUnread(undefined)).not.toThrow();
});
