/** Input for a program that cannot read it is refused, seen on real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { type ProcessStamp, readProcess } from '../../../src/files/processes.js';
import { refuseUnread } from '../../../src/runtime/owner/stdin-limits.js';
import { until } from '../../support/until.js';

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** Starts a command that ends in `sleep`; resolves once that runs. */
async function stampOf(command: string, stdin: 'pipe' | 'ignore'): Promise<ProcessStamp> {
  child = spawn('/bin/sh', ['-c', `${command}`], { stdio: [stdin, 'ignore', 'ignore'] });
  const pid = child.pid ?? 0;
  await until(() => expect(readlinkSync(`/proc/${pid}/exe`)).toMatch(/sleep|coreutils|busybox/));
  return { pid, startTime: readProcess(pid)?.startTime ?? 0 };
}

it.each([
  ['exec sleep 60', 'ignore', /which is \/dev\/null: nothing was written/],
  ['exec sleep 60 <&-', 'pipe', /which is closed: nothing was written/],
] as const)('%s with %s', async (command, stdin, message) => {
  const program = await stampOf(command, stdin);
  // While it starts, the first free descriptor is that of a library.
  await until(() => expect(() => refuseUnread(program)).toThrow(message));
});

it('lets input pass for a fork of the owner that has no terminal yet', () => {
  child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  expect(() => refuseUnread({ pid, startTime: readProcess(pid)?.startTime ?? 0 })).not.toThrow();
  expect(() => refuseUnread({ pid, startTime: 0 })).toThrow('/dev/null');
});

it('lets all other input pass, and says nothing of a process that is gone', async () => {
  const program = await stampOf('exec sleep 60', 'pipe');
  expect(() => refuseUnread(program)).not.toThrow();
  expect(() => refuseUnread({ pid: 2 ** 30, startTime: 1 })).not.toThrow();
  expect(() => refuseUnread(undefined)).not.toThrow();
});
