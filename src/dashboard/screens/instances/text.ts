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
  counted: (shown: number, all: number) => (shown === all ? names(all) : `${shown} of ${names(all)}`),
  chosen: (number: number) => `${names(number)} selected`,
  clear: 'Clear selection',
  create: 'New instance',
  createTitle: 'New instance',
  createHint: 'One more instance, beside those that the configuration keeps running.',
  createIn: 'Configuration',
  created: (id: string) => `Instance ${id} is being created`,
  empty: 'No instances yet',
  emptyHint: 'A configuration says what to run, and how many instances.',
  toConfigurations: 'Show configurations',
  noneFound: 'No instance matches the filter',
  clearFilter: 'Clear the filter',
  loading: 'Loading the instances…',
};
