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
    ["bash -c 'a; b'", "exec bash -c 'a; b'"],
    ['bash -c "a && b | c # d"', 'exec bash -c "a && b | c # d"'],
    ["sh -c '\nwhile :; do\n sleep 1\ndone' sh", "exec sh -c '\nwhile :; do\n sleep 1\ndone' sh"],
    ['node -e \'f({a: 1})\' "(b)"', 'exec node -e \'f({a: 1})\' "(b)"'],
    ['find . -exec ls {} \\;', 'exec find . -exec ls {} \\;'],
    ['java -jar \\\n  server.jar', 'exec java -jar \\\n  server.jar'],
    ['java -jar server.jar >log 2>&1 </dev/null', 'exec java -jar server.jar >log 2>&1 </dev/null'],
    ['sleep 5\n', 'exec sleep 5\n'],
    ['tail a#b', 'exec tail a#b'],
    ['"my program" x', 'exec "my program" x'],
    ["'./my program' x", "exec './my program' x"],
    ['FOO=1 BAR=a:b/c node server.mjs', 'FOO=1 BAR=a:b/c exec node server.mjs'],
    ['FOO="${DROVER_VAR_1}" node x', 'FOO="${DROVER_VAR_1}" exec node x'],
  ])('%s', (command, expected) => {
    expect(execSimple(command)).toBe(expected);
  });

  it.each([
    'cd game; ./run',
    'a && b',
    'a | b',
    'sleep 1 &',
    'cd /tmp',
    'if true; then echo; fi',
    'echo $(date)',
    'echo `date`',
    'exec node x',
    '$PROGRAM x',
    'true\nfalse',
    "sh -c 'a'; b",
    "sh -c 'a' 'b' | c",
    'sh -c "a" &',
    'sh -c "a" # b; c',
    'sh -c "$(a)"',
    'sh -c "`a`"',
    'echo $((1 + 2))',
    'echo \\${X};ls',
    'a \\\\; b',
    "a 'unfinished; b",
    "a $'\\'' ; b ''",
    'a &> b',
    'cat <<END',
    '"cd" /tmp',
    'FOO=$(a) node x',
    'FOO="$X" node x',
    'PATH=/opt node x',
    'FOO=1',
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
      '/bin/sh -c \'echo "$1" $$ >/dev/null; echo $Y\' sh "$X;"',
      'Y=1 /bin/sh -c \'echo "$Y"; echo $X\'',
      '/bin/echo {} \\; \\\n a#b 2>&1',
    ])
      expect(run(execSimple(command))).toBe(run(command));
  });
});
