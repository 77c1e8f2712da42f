import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { substituteCommand } from '../../../src/runtime/command/command-variables.js';

const SHELLS = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell));
const SHOW = `show() { printf '%s\\0' "$@"; }\n`;

/** A command and the words that `show` must get for a value. */
type Shape = readonly [command: string, words: (value: string) => string[]];

const SHAPES: readonly Shape[] = [
  ['show %X%', (v) => [v]],
  ['show a%X%b c', (v) => [`a${v}b`, 'c']],
  ['show %X%%X%', (v) => [v + v]],
  ['show --name=%X% %X%', (v) => [`--name=${v}`, v]],
  ['show "a %X% b"', (v) => [`a ${v} b`]],
  ["show 'a %X% b'", (v) => [`a ${v} b`]],
  [`show "it's %X%" 'say "' %X%`, (v) => [`it's ${v}`, 'say "', v]],
  ['show \\%X%', (v) => [v]],
  ['show \\\\%X%', (v) => [`\\${v}`]],
  ['show "\\%X%"', (v) => [`\\${v}`]],
  ['show "\\"%X%\\""', (v) => [`"${v}"`]],
  ['show "$%X%" $%X%', (v) => [`$${v}`, `$${v}`]],
  ["show '$%X%'", (v) => [`$${v}`]],
  ['show "$(printf %s. %X%)"', (v) => [`${v}.`]],
  ['show "$(printf %s. "%X%")" %X%', (v) => [`${v}.`, v]],
  [`show "$(printf %s. '%X%')"`, (v) => [`${v}.`]],
  ['show "`printf %s. %X%`"', (v) => [`${v}.`]],
  ['show "$( (printf %s. %X%) )" "%X%"', (v) => [`${v}.`, v]],
  ['show "${NOT_SET:-%X%}" ${NOT_SET:-%X%}', (v) => [v, v]],
  ['show a#%X% \\ #%X%', (v) => [`a#${v}`, ` #${v}`]],
  ['show a # it\'s %X% `"\nshow %X%', (v) => ['a', v]],
  ['( show %X% ); { show %X%; }', (v) => [v, v]],
  ['Y=%X%; show "$Y"', (v) => [v]],
  ['case %X% in %X%) show yes ;; *) show no ;; esac', () => ['yes']],
  ['[ %X% = "%X%" ] && show %X%', (v) => [v]],
  ['show "$((1 + 2))" %X%', (v) => ['3', v]],
];

const NASTY = [
  '',
  'plain',
  'two words',
  "'",
  '"',
  '\\',
  'it\'s "quoted"',
  '$(touch PWNED)',
  '`touch PWNED`',
  '; touch PWNED #',
  '" ; touch PWNED ; "',
  "' ; touch PWNED ; '",
  '$HOME ${HOME} $$',
  '* ? [a-z] ~',
  '-n',
  '--',
  'line one\nline two\n',
  '\ttab ',
  '%X%',
  '%INSTANCE_ID%',
  '${DROVER_VAR_1}',
  '} ) )) " }',
  '# no comment',
  '&& touch PWNED || | > PWNED',
  'ünïcode 💥',
];

describe.each(SHELLS)('substituteCommand run by %s', (shell) => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-command-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  function words(template: string, values: Record<string, string>): string[] {
    const { command, environment } = substituteCommand(SHOW + template, new Map(Object.entries(values)));
    const run = spawnSync(shell, ['-c', command], {
      cwd: directory,
      env: { PATH: '/usr/bin:/bin', ...environment },
      // A socket as input makes bash read the user's start-up files.
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    expect(run.stderr, command).toBe('');
    return run.stdout.split('\0').slice(0, -1);
  }

  it.each(SHAPES)('hands over one literal word in %j', (template, expected) => {
    const lines = NASTY.map((_value, index) => template.replaceAll('%X%', `%X${index}%`));
    const values = Object.fromEntries(NASTY.map((value, index) => [`X${index}`, value]));
    expect(words(lines.join('\n'), values)).toEqual(NASTY.flatMap(expected));
    expect(readdirSync(directory)).toEqual([]);
  });

  it('hands over whatever text, in all those places at once', () => {
    const hostile = fc.string({ unit: fc.constantFrom(...'\'"`$(){}\\;|&<>*?#%X \n~!-='), maxLength: 20 });
    const everything = SHAPES.map(([template]) => template).join('\n');
    const text = fc.oneof(hostile, fc.string({ unit: 'grapheme' })).map((raw) => raw.replaceAll('\0', ''));
    // Ten texts in one run of the shell: a fork of this process costs more than all the rest.
    fc.assert(
      fc.property(fc.array(text, { minLength: 10, maxLength: 10 }), (texts) => {
        const lines = texts.map((_text, index) => everything.replaceAll('%X%', `%X${index}%`));
        const values = Object.fromEntries(texts.map((one, index) => [`X${index}`, one]));
        const expected = texts.flatMap((one) => SHAPES.flatMap(([, wordsOf]) => wordsOf(one)));
        expect(words(lines.join('\n'), values)).toEqual(expected);
      }),
      { numRuns: 5 },
    );
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('substituteCommand', () => {
  it('never puts a value into the text, wherever the placeholder stands', () => {
    const command = fc.string({ unit: fc.constantFrom('%X%', ...'\'"`$(){}\\;|&#\n a'), maxLength: 40 });
    const value = '"; $(touch PWNED) `x` \'';
    fc.assert(
      fc.property(command, (text) => {
        try {
          expect(substituteCommand(text, new Map([['X', value]])).command).not.toContain('PWNED');
        } catch (error) {
          if (!DroverError.is(error, 'DRV_CONFIGURATION_INVALID')) throw error;
          expect(text).toMatch(/\$\(\(|<</);
        }
      }),
      { examples: [['%X%'], ['$((%X%'], ['<<%X%']] },
    );
  });

  it('replaces a placeholder at the very beginning', () => {
    expect(substituteCommand('%X% -n "%X%"', new Map([['X', '/bin/echo']])).command).toBe(
      '"${DROVER_VAR_1}" -n "${DROVER_VAR_1}"',
    );
  });

  it('uses one environment variable per name and leaves unknown names alone', () => {
    const variables = new Map([
      ['A', '1'],
      ['B', '2'],
    ]);
    expect(substituteCommand('run %A% %NO% %B% %A%', variables)).toEqual({
      command: 'run "${DROVER_VAR_1}" %NO% "${DROVER_VAR_2}" "${DROVER_VAR_1}"',
      environment: { DROVER_VAR_1: '1', DROVER_VAR_2: '2' },
    });
  });

  it('allows integers, and nothing else, in arithmetic', () => {
    expect(substituteCommand('echo $(( (%A%) + 1 ))', new Map([['A', '8080']])).command).toBe(
      'echo $(( (${DROVER_VAR_1}) + 1 ))',
    );
    expect(() => substituteCommand('echo $((%A%))', new Map([['A', 'x[$(id)]']]))).toThrow(
      /%A% in \$\(\( \)\) is possible for integers only/,
    );
  });

  it('refuses a placeholder in a here-document instead of quoting it wrongly', () => {
    expect(() => substituteCommand('cat <<EOF\n%A%\nEOF', new Map([['A', 'x']]))).toThrow(DroverError);
    expect(substituteCommand('cat %A% <<EOF\ndo not\nEOF', new Map([['A', 'x']])).command).toContain(
      'DROVER_VAR_1',
    );
  });
});
