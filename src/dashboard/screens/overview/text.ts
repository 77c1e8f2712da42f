/** The texts of the screen Overview. */
import { plural } from '../../parts/amounts.js';

export const text = {
  title: 'Overview',
  attention: 'Needs attention',
  tones: { bad: 'Broken', busy: 'Under way', still: 'Left over', good: 'Healthy' },
  nothing: 'Nothing needs you',
  nothingHint: 'Everything runs as desired, and all nodes are connected.',
  noConfigurations: 'No instances yet',
  noConfigurationsHint: 'A configuration says what to run, and how many instances.',
  toConfigurations: 'Show configurations',
  more: (count: number) => `and ${plural(count, 'more', 'more')}`,
  loading: 'Looking…',
  instances: 'Instances',
  nodes: 'Nodes',
  players: 'Players',
  ram: 'RAM',
  cpu: 'CPU',
  reserved: 'Reserved',
  used: 'Used',
  online: (count: number, all: number) => `${count} of ${plural(all, 'instance')} online`,
  connected: (count: number, all: number) => `${count} of ${plural(all, 'node')} connected`,
  nodeLost: (node: string) => `Node ${node} is lost: its beats are missing.`,
  nodeReturning: (node: string) => `Node ${node} has left and said that it will be back.`,
  nodeDraining: (node: string, left: number) =>
    `Node ${node} is being drained: ${plural(left, 'instance')} left.`,
  nodeCordoned: (node: string) => `Node ${node} is cordoned: it gets no new instances.`,
  rolloutFailed: (name: string, message: string | null) =>
    `The rollout of ${name} failed${message === null ? '.' : `: ${message}`}`,
  rolloutAwaits: (name: string) => `The canaries of ${name} are healthy: its rollout waits for promotion.`,
  rolloutPaused: (name: string) => `The rollout of ${name} is paused.`,
  belowMinimum: (name: string, online: number, minimum: number) =>
    `${name} has ${online} of ${plural(minimum, 'instance')} online.`,
  brokenFile: (file: string, line: number | null, message: string) =>
    `${file}${line === null ? '' : `, line ${line}`}: ${message}`,
  removed: (name: string, count: number) =>
    `Configuration ${name} is deleted, and ${plural(count, 'instance')} of it ${count === 1 ? 'is' : 'are'} left.`,
  unreadable: (key: string, problem: string) =>
    `The record ${key} cannot be read and is set aside: ${problem}`,
  certificate: (problem: string) => `The certificate of the API: ${problem}`,
  openInstance: 'Open instance',
  openInstances: 'Show instances',
  openConfiguration: 'Open file',
  openNodes: 'Show nodes',
  openRollout: 'Show rollout',
  openTemplates: 'Show templates',
  restart: 'Restart now',
  restarted: (id: string) => `Instance ${id} will restart`,
  lastEvents: 'Latest events',
  noEvents: 'Nothing has happened yet',
  noEventsHint: 'Instances that start and end are listed here, and nodes that join, leave or are lost.',
  node: (id: string) => `Node ${id}`,
  events: {
    made: 'Created',
    online: 'Online',
    offline: 'Offline',
    stopped: 'Stopped',
    removed: 'Removed',
    connected: 'Connected',
    returning: 'Returning',
    lost: 'Lost',
  },
};
