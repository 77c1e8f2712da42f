/** The change of user, carried out by real shells; a program that says what it was told stands for setpriv. */
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { asUser } from '../../../src/runtime/command/as-user.js';

const USER = { uid: 1001, gid: 1002, name: null, home: null, shell: null };
const directory = mkdtempSync(join(tmpdir(), 'drover-as-user-'));
const setpriv = join(directory, 'setpriv');
// What it finds in its own environment, then what it was told, then the rest as setpriv does.
writeFileSync(
  setpriv,
  '#!/bin/sh\nenv | sort | sed "s/^/before: /"\nwhile [ "${1#--}" != "$1" ]; do echo "$1"; shift; done\nexec "$@"\n',
);
chmodSync(setpriv, 0o755);
afterAll(() => rmSync(directory, { recursive: true }));

function run(command: string, environment: Record<string, string>, user = USER): string[] {
  const call = asUser({ command, environment }, user, setpriv);
  const output = execFileSync('/bin/sh', ['-c', call.command], { env: call.environment, encoding: 'utf8' });
  return output.trimEnd().split('\n');
}

it('gives the command its environment, and the change of user none of it', () => {
  const environment = {
    PATH: '/bin:/usr/bin:/opt',
    LD_LIBRARY_PATH: './lib',
    BASH_ENV: './rc',
    TEXT: 'a \'b\'\n"$c" %',
  };
  const lines = run(
    'printf "<%s>" "$LD_LIBRARY_PATH" "$BASH_ENV" "$PATH" "$TEXT"; env | grep -c DROVER_AS || :',
    environment,
  );
  const before = lines.filter((line) => line.startsWith('before: '));
  expect(before.filter((line) => /^before: (LD_|BASH_ENV|TEXT)/.test(line))).toEqual([]);
  expect(before).toContain('before: PATH=/usr/bin:/bin');
  const rest = lines.filter((line) => !line.startsWith('before: ')).join('\n');
  expect(rest).toContain('<./lib><./rc></bin:/usr/bin:/opt><a \'b\'\n"$c" %>0');
});

it('names the user by number, with the groups of a named one only', () => {
  const told = (user: typeof USER | (Omit<typeof USER, 'name'> & { name: string })) =>
    asUser({ command: ':', environment: {} }, user, setpriv).command;
  expect(told(USER)).toContain(' --reuid=1001 --regid=1002 --clear-groups --inh-caps=-all ');
  expect(told({ ...USER, name: 'games' })).toContain(
    ' --reuid=1001 --regid=1002 --init-groups --inh-caps=-all ',
  );
});

it('leaves no PATH where there was none, and out what a shell cannot set', () => {
  const lines = run('echo "path ${PATH-none}"; echo "$1 $#"', { UID: '7', SHELLOPTS: 'xtrace', 'a.b': 'c' });
  expect(lines.slice(-1)).toEqual([' 0']);
  expect(lines.at(-2)).toMatch(/^path (none|.*)$/);
  expect(lines.join('\n')).not.toContain('xtrace');
});

it.skipIf(process.getuid?.() !== 0)('gives nothing away where the program has no terminal', () => {
  // What `tty` says then is the name of a file that an instance could put into its working directory.
  const victim = join(directory, 'victim');
  const cwd = join(directory, 'running');
  mkdirSync(cwd);
  writeFileSync(victim, '');
  symlinkSync(victim, join(cwd, 'not a tty'));
  const call = asUser({ command: ':', environment: {} }, USER, setpriv);
  execFileSync('/bin/sh', ['-c', call.command], { cwd, env: call.environment, stdio: 'ignore' });
  expect(lstatSync(victim).uid).toBe(0);
});
