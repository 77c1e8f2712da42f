/** The texts of the columns of instances. */
import { count, plural } from '../amounts.js';

const names = (number: number): string => plural(number, 'instance');

export const text = {
  names,
  explain: {
    start: 'A stopped instance gets a new run; one that runs is left alone.',
    stop: 'The process is ended. Place and files stay, and it stays stopped until you start it.',
    restart: 'The process is ended and started again. Players are disconnected.',
    delete:
      'The process is ended and its files are removed, unless the instance is static. Drover creates a new one where the configuration has too few then.',
  },
  someFailed: (failed: number, first: string) => `${names(failed)} refused it: ${first}`,
  label: {
    id: 'Instance',
    configuration: 'Configuration',
    state: 'State',
    node: 'Node',
    address: 'Address',
    players: 'Players',
    ram: 'RAM',
    cpu: 'CPU',
    restarts: 'Restarts',
    created: 'Age',
    up: 'Up',
  },
  notPlaced: 'not placed',
  outdated: 'has older content: its rollout replaces it',
  percent: (value: number) => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} %`,
};
