import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { execSimple } from '../../../src/runtime/command/exec-command.js';

describe('a simple command takes the place of its shell', () => {
  it.each([
    ['node server.mjs', 'exec node server.mjs'],
    ['  ./start.sh -x', 'exec ./start.sh -x'],
    ['java -jar server.jar > out.txt 2> err.txt', 'exec java -jar server.jar > out.txt 2> err.txt'],
    ['sleep "${DROVER_VAR_1}"', 'exec sleep "${DROVER_VAR_1}"'],
    ['echo $HOME', 'exec echo $HOME'],
  ])('%s', (command, expected) => {
    expect(execSimple(command)).toBe(expected);
  });

  it.each([
    'cd game; ./run',
    'a && b',
    'a | b',
    'sleep 1 &',
    'FOO=1 node server.mjs',
    'cd /tmp',
    'if true; then echo; fi',
    '"my program" x',
    'echo $(date)',
    'echo `date`',
    'exec node x',
    '$PROGRAM x',
    'true\nfalse',
    '',
  ])('but a shell stays for: %j', (command) => {
    expect(execSimple(command)).toBe(command);
  });

  it('gives what the command gave before', () => {
    const run = (command: string): string =>
      execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8', env: { X: 'a b' } });
    for (const command of [
      '/bin/echo "$X" $X',
      "/usr/bin/printf '%s|' '$X' \"${X}\" \\$X",
      '/bin/echo one 2> /dev/null',
    ])
      expect(run(execSimple(command))).toBe(run(command));
  });
});
