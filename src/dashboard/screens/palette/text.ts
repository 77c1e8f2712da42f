/** The texts of the palette. */
import { count } from '../../parts/amounts.js';

export const text = {
  title: { commands: 'Commands', places: 'Go to' },
  label: { commands: 'Command, or a name to go to', places: 'Name to go to' },
  hint: {
    commands: 'A line as in the console, such as "instance list", or a name. "help" shows all commands.',
    places: 'An instance, configuration, node or screen. Your key runs no commands.',
  },
  keys: 'Tab completes, Enter runs or opens, the arrow keys choose, ↑ on an empty line brings earlier lines back.',
  keysPlaces: 'The arrow keys choose, Enter opens, Escape closes.',
  suggestions: 'Suggestions',
  kinds: { screen: 'Screen', instance: 'Instance', configuration: 'Configuration', node: 'Node' },
  noneFound: 'Nothing is called so.',
  run: 'Run',
  running: 'Runs…',
  askTitle: 'Run this command?',
  askExplain: 'It ends or removes something that does not come back by itself.',
  output: 'Output',
  noOutput: 'Done, without output.',
  cut: (shown: number, all: number) =>
    `Shown are the first ${count(shown)} of ${count(all)} characters. Copy takes all.`,
  copyOutput: 'Copy output',
};
