/** Variables that Debian's /bin/sh does not pass on, carried out by real shells. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { asUser } from '../../../src/runtime/command/as-user.js';
import { callOf } from '../../../src/runtime/command/odd-names.js';

const VALUE = 'a \'b\' "c" $d `e` \\\n%';
const ENVIRONMENT = { PATH: '/usr/bin:/bin', 'discovery.type': VALUE, 'a-b': '', PLAIN: 'x' };

function run({ command, environment }: ReturnType<typeof callOf>): string {
  return execFileSync('/bin/sh', ['-c', command], { env: environment, encoding: 'utf8' });
}

it.each([
  ['a simple command', '/usr/bin/printenv discovery.type a-b PLAIN'],
  ['assignments before it', 'FOO=1 /usr/bin/printenv discovery.type a-b PLAIN'],
  ['a list', ': && /usr/bin/printenv discovery.type a-b PLAIN'],
  ['a shell of its own', 'exec printenv discovery.type a-b PLAIN'],
  ['quotes', `cd /; if true; then printenv 'discovery.type' "a-b" PLAIN; fi`],
])('reach the program of %s, whatever their values are', (_what, command) => {
  expect(run(callOf({ command, environment: ENVIRONMENT }))).toBe(`${VALUE}\n\nx\n`);
});

it('reach a program that runs as another user', () => {
  const user = { uid: 1001, gid: 1002, name: null, home: null, shell: null };
  const call = callOf({ command: ': ; printenv discovery.type', environment: ENVIRONMENT });
  const { command, environment } = asUser(call, user, '/usr/bin/env --');
  // In place of setpriv, env runs the rest.
  const without = command.replace(/--reuid.*--inh-caps=-all/, '');
  expect(run({ command: without, environment })).toBe(`${VALUE}\n`);
});

it('stand in no command line, and their carriers in no environment of the program', () => {
  for (const command of ['env', ':; env']) {
    const call = callOf({ command, environment: ENVIRONMENT });
    expect(call.command).not.toContain('`e`');
    expect(run(call)).not.toContain('DROVER_ENV_');
  }
});

it('change nothing where all names are ordinary', () => {
  const environment = { A: '1' };
  expect(callOf({ command: 'node x', environment })).toEqual({ command: 'exec node x', environment });
  expect(callOf({ command: 'a; b', environment })).toEqual({ command: 'a; b', environment });
});
