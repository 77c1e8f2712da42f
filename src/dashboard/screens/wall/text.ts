/** The texts of the wall of logs. */
import { plural } from '../../parts/amounts.js';

export const text = {
  title: 'Logs',
  configuration: 'Configuration',
  all: 'All',
  find: 'Instances by id',
  findHint: 'Ids or their first letters, such as "6yrgng 9c"',
  view: 'View',
  views: { grid: 'Side by side', one: 'One log, by time' },
  shown: (shown: number, all: number) =>
    shown === all ? plural(all, 'instance') : `the first ${shown} of ${plural(all, 'instance')}`,
  removed: 'Removed',
  merged: 'The logs of these instances, by time',
  none: 'No instance to show',
  noneHint: 'Choose another configuration, or type ids of instances.',
};
