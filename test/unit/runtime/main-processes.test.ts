/** Which processes of a run a signal goes to first, by what they handle and what stands before them. */
import { constants } from 'node:os';
import { expect, it } from 'vitest';
import type { ProcessEntry } from '../../../src/files/processes.js';
import { mainProcesses, type SignalManners } from '../../../src/runtime/main-processes.js';

interface Row {
  readonly pid: number;
  readonly parent?: number;
  readonly is?: 'shell';
  readonly handles?: readonly NodeJS.Signals[];
  readonly blocks?: readonly NodeJS.Signals[];
  readonly isBehind?: boolean;
}

const bits = (signals: readonly NodeJS.Signals[] = []): bigint =>
  signals.reduce((mask, signal) => mask | (1n << BigInt(constants.signals[signal] - 1)), 0n);

function mainsOf(rows: readonly Row[], signal: NodeJS.Signals = 'SIGTERM'): number[] {
  const entries: ProcessEntry[] = rows.map(({ pid, parent = 1 }) => ({
    pid,
    parent,
    startTime: pid,
    group: 10,
    session: 10,
    isZombie: false,
    isSuspended: false,
    cpuTicks: 0,
    residentPages: 0,
  }));
  const mannersOf = (pid: number): SignalManners => {
    const { is, handles, blocks, isBehind = false } = rows.find((row) => row.pid === pid) ?? { pid };
    return {
      caught: bits([...(is === 'shell' ? (['SIGINT', 'SIGCHLD'] as const) : []), ...(handles ?? [])]),
      blocked: bits(blocks),
      ignored: bits(isBehind ? ['SIGINT', 'SIGQUIT'] : []),
      isShell: is === 'shell',
      hasNoInput: false,
    };
  };
  return mainProcesses(entries, signal, mannersOf).map(({ pid }) => pid);
}

const TERM = ['SIGTERM'] as const;

it.each<[string, readonly Row[], number[]]>([
  ['a program alone', [{ pid: 10, handles: TERM }], [10]],
  [
    'nothing, where nothing handles the signal',
    [
      { pid: 10, is: 'shell' },
      { pid: 11, parent: 10 },
    ],
    [],
  ],
  [
    'the program, not its shell',
    [
      { pid: 10, is: 'shell' },
      { pid: 11, parent: 10, handles: TERM },
    ],
    [11],
  ],
  ['the program, not its launcher', [{ pid: 10 }, { pid: 11, parent: 10, handles: TERM }], [11]],
  [
    'the parent of a pool, not its workers',
    [
      { pid: 10, handles: TERM },
      { pid: 11, parent: 10, handles: TERM },
    ],
    [10],
  ],
  [
    'a program that waits for the signal by blocking it',
    [
      { pid: 10, blocks: TERM },
      { pid: 11, parent: 10 },
    ],
    [10],
  ],
  [
    'both programs of a shell',
    [
      { pid: 10, is: 'shell' },
      { pid: 11, parent: 10, handles: TERM },
      { pid: 12, parent: 10, handles: TERM },
    ],
    [11, 12],
  ],
  [
    'the writer of a pipe, not what filters its output',
    [
      { pid: 10, is: 'shell' },
      { pid: 11, parent: 10, handles: TERM },
      { pid: 12, parent: 10 },
    ],
    [11],
  ],
  [
    'a program whose parent has ended, beside the others',
    [
      { pid: 10, handles: TERM },
      { pid: 20, handles: TERM },
    ],
    [10, 20],
  ],
  [
    'a shell with a trap, which passes the signal on',
    [
      { pid: 10, is: 'shell', handles: TERM },
      { pid: 11, parent: 10, handles: TERM, isBehind: true },
    ],
    [10],
  ],
  [
    'such a shell and its program in the foreground',
    [
      { pid: 10, is: 'shell', handles: TERM },
      { pid: 11, parent: 10, handles: TERM },
    ],
    [10, 11],
  ],
  [
    'such a shell and the sleep that it waits for',
    [
      { pid: 10, is: 'shell', handles: TERM },
      { pid: 11, parent: 10 },
    ],
    [10, 11],
  ],
  [
    'the program of a bash with a trap for its exit',
    [
      { pid: 10, is: 'shell', handles: ['SIGTERM', 'SIGSEGV'] },
      { pid: 11, parent: 10, handles: TERM },
    ],
    [11],
  ],
])('%s', (_what, rows, expected) => {
  expect(mainsOf(rows)).toEqual(expected);
});

it('sends SIGINT to no shell, for every shell catches it and dies of it all the same', () => {
  const shell = { pid: 10, is: 'shell' } as const;
  expect(mainsOf([shell, { pid: 11, parent: 10, handles: ['SIGINT'] }], 'SIGINT')).toEqual([11]);
  expect(mainsOf([shell, { pid: 11, parent: 10 }], 'SIGINT')).toEqual([]);
});
