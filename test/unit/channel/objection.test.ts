/** Which node a master refuses because its own store lacks what the node has seen. */
import { expect, it } from 'vitest';
import { objectionTo } from '../../../src/channel/master/objection.js';
import { HELLO } from '../../support/channel/messages.js';

/** At revision 500; restored as line 1 at revision 100, and as line 2 at revision 300. */
const FACTS = {
  peer: undefined,
  clusterName: 'test',
  revision: 500,
  line: {
    base: 2,
    restores: [
      { base: 1, revision: 100 },
      { base: 2, revision: 300 },
    ],
  },
  isConnected: false,
};

it.each([
  ['has seen nothing', {}, undefined],
  ['knows the state up to the restore', { seen: 100 }, undefined],
  ['has seen more than was restored, which the store has come beyond since', { seen: 101 }, 'older store'],
  ['took the first restore', { seen: 101, line: 1 }, undefined],
  ['took the first restore, and has seen more than the second one', { seen: 301, line: 1 }, 'older store'],
  ['took the second restore', { seen: 500, line: 2 }, undefined],
  ['has seen more than the store has', { seen: 501, line: 2 }, 'older store'],
])('a node that %s', (_, said, cause) => {
  expect(objectionTo({ ...HELLO, ...said }, FACTS)?.cause).toBe(cause);
});
