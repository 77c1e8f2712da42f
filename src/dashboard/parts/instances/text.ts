/** The texts of the columns of instances. */
import { count } from '../amounts.js';

export const text = {
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
