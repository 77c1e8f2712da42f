/** The texts of the charts of usage. */
import { count, plural } from '../amounts.js';

export const text = {
  title: 'Usage',
  cpuPercent: 'CPU',
  memoryBytes: 'Memory',
  players: 'Players',
  range: 'Range',
  ranges: { '30m': '30 minutes', '6h': '6 hours', '1d': '1 day' },
  unknown: 'not known',
  percent: (value: number) => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} %`,
  most: (value: string) => `at most ${value}`,
  chart: (name: string, range: string) => `${name} over the last ${range}`,
  restarts: (value: number) => plural(value, 'restart'),
  missing: (nodes: string) => `Without ${nodes}: not all of it could be asked.`,
  table: 'As a table',
  time: 'Time',
  none: 'Nothing is measured yet',
  noneHint: 'The node measures what runs every 10 seconds, and keeps a value a minute for a day.',
};
