/** What the palette offers for a line, what it asks about, and what it remembers. */
import { expect, it } from 'vitest';
import { visibleText } from '../../../src/dashboard/parts/words/visible-text.js';
import {
  commandOf,
  completionsOf,
  isDestructive,
  isRunnable,
} from '../../../src/dashboard/screens/palette/command-line.js';
import { placesFor } from '../../../src/dashboard/screens/palette/places.js';
import { anInstance } from '../../support/dashboard/entries.js';

const command = (path: string, destroys = false, flags = '') => ({
  path,
  usage: `${path} <id>`,
  about: `about ${path}`,
  destroys,
  options: flags === '' ? [] : [{ flags, about: `about ${flags}` }],
});
const COMMANDS = [
  command('stop', true),
  command('instance stop', false, '--now'),
  command('instance delete', true),
  command('cluster token revoke', true, '-y, --yes'),
];

it('knows the command of a line by its words', () => {
  expect(commandOf(COMMANDS, '  instance   stop a1')?.path).toBe('instance stop');
  expect(commandOf(COMMANDS, 'instance stopp')).toBeUndefined();
  expect(commandOf(COMMANDS, 'stop')?.path).toBe('stop');
  expect(isRunnable(COMMANDS, 'lobby')).toBe(false);
  expect(isRunnable(COMMANDS, 'help instance')).toBe(true);
});

it('asks before what destroys, and not before its help', () => {
  expect(isDestructive(COMMANDS, 'instance delete a1')).toBe(true);
  expect(isDestructive(COMMANDS, 'instance delete --help')).toBe(false);
  expect(isDestructive(COMMANDS, 'instance stop a1')).toBe(false);
});

it('makes whole lines of what the server offers, each with what it is', () => {
  expect(
    completionsOf(COMMANDS, 'instance st', { asked: 'instance st', word: 'st', candidates: ['stop '] }),
  ).toEqual([{ line: 'instance stop ', label: 'stop', about: 'about instance stop' }]);
  expect(completionsOf(COMMANDS, '', { asked: '', word: '', candidates: ['instance', 'stop'] })).toEqual([
    { line: 'instance ', label: 'instance', about: 'stop, delete' },
    { line: 'stop ', label: 'stop', about: 'about stop' },
  ]);
  expect(
    completionsOf(COMMANDS, 'instance stop --', {
      asked: 'instance stop --',
      word: '--',
      candidates: ['--now'],
    })[0]?.about,
  ).toBe('about --now');
  // Meanwhile something else is typed.
  const late = { asked: 'i', word: 'i', candidates: ['import', 'instance'] };
  expect(completionsOf(COMMANDS, 'ins', late).map(({ label }) => label)).toEqual(['instance']);
  for (const other of ['key', 'instance list', 'xi', ''])
    expect(completionsOf(COMMANDS, other, late), other).toEqual([]);
  const all = { asked: '', word: '', candidates: ['instance'] };
  expect(completionsOf(COMMANDS, 'a1b2c3', all)).toEqual([]);
});

it('leads to what has the name, a few of each kind', () => {
  const places = {
    screens: [{ label: 'Nodes', href: '#/nodes' }],
    instances: Array.from({ length: 9 }, (_, n) => anInstance({ id: `i${n}`, configurationName: 'nobody' })),
    configurations: ['nobody', '<script>'],
    nodes: ['node-a'],
  };
  expect(placesFor('', places).map(({ href }) => href)).toEqual(['#/nodes']);
  expect(placesFor('NO', places).map(({ label }) => label)).toEqual([
    'Nodes',
    'nobody',
    'node-a',
    ...[0, 1, 2, 3, 4].map((n) => `i${n} nobody`),
  ]);
  expect(placesFor('<', places)[0]?.href).toBe('#/configurations/%3Cscript%3E');
});

it('shows what a terminal or browser would obey', () => {
  expect(visibleText('a\x1b[31mred\r\nb\tc')).toBe('a\\x1b[31mred\nb\tc');
  expect(visibleText('\u202etxt.exe \x9b')).toBe('\\u202etxt.exe \\x9b');
  expect(visibleText('größe 漢字 🎉')).toBe('größe 漢字 🎉');
});
