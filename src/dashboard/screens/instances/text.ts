/** The texts of the screen Instances. */
import { count, plural } from '../../parts/amounts.js';

const names = (number: number): string => plural(number, 'instance');

export const text = {
  names,
  title: 'Instances',
  search: 'Find',
  searchHint: 'id, configuration, node, address or message',
  state: 'State',
  group: 'Group by',
  noGroup: 'Nothing',
  columns: 'Columns',
  compact: 'Compact rows',
  groupAbout: (online: number, all: number, players: number, nodes: number) =>
    [
      `${count(online)}/${count(all)}`,
      ...(players > 0 ? [plural(players, 'player')] : []),
      plural(nodes, 'node'),
    ].join(' · '),
  log: 'Log',
  filter: 'Filter',
  sort: 'Sort by',
  descending: 'Descending',
  counted: (shown: number, all: number) => (shown === all ? names(all) : `${shown} of ${names(all)}`),
  chosen: (number: number) => `${names(number)} selected`,
  clear: 'Clear selection',
  create: 'New instance',
  createTitle: 'New instance',
  createHint: 'One more instance, beside those that the configuration keeps running.',
  createIn: 'Configuration',
  created: (id: string) => `Instance ${id} is being created`,
  explain: {
    start: 'Each gets a new run. Those that run already are left alone.',
    stop: 'Their processes are ended. Place and files stay, and they stay stopped until you start them.',
    restart: 'Their processes are ended and started again. Players are disconnected.',
    delete:
      'Their processes are ended and their files removed, but those of static instances. Drover creates new ones up to the minimum of the configuration.',
  },
  someFailed: (failed: number, first: string) => `${names(failed)} refused it: ${first}`,
  empty: 'No instances yet',
  emptyHint: 'A configuration says what to run, and how many instances.',
  toConfigurations: 'Show configurations',
  noneFound: 'No instance matches the filter',
  clearFilter: 'Clear the filter',
  loading: 'Loading the instances…',
};
