/** Input for a program that cannot read it is refused, seen on real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { type ProcessStamp, readProcess } from '../../../src/files/processes.js';
import { refuseUnread } from '../../../src/runtime/owner/stdin-limits.js';
import { until } from '../../support/until.js';

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** Answers of a link of /proc instead of the kernel's; undefined: the kernel's own. */
let forged: ((path: string) => string) | undefined;
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, readlinkSync: (path: string) => forged?.(path) ?? fs.readlinkSync(path) };
});
afterEach(() => {
  forged = undefined;
});

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

it.each([0, 1, 2, 3])('lets input pass when the fork becomes the program after %i looks at it', (looks) => {
  let left = looks;
  forged = (path) => {
    const isProgram = left-- <= 0;
    if (path.endsWith('/exe')) return isProgram ? '/bin/bash' : process.execPath;
    return isProgram ? '/dev/pts/7' : '/dev/null';
  };
  expect(() => refuseUnread({ pid: process.pid, startTime: Math.floor(uptime() * 100) })).not.toThrow();
});
