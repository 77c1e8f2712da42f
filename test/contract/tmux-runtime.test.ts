/** The tmux runtime keeps the contract of all runtimes. Needs `npm run build` for the session owner, and tmux. */
import { describe } from 'vitest';
import { tmuxSocket } from '../../src/runtime/session/tmux/tmux-server.js';
import { hasTool } from '../support/runtime/process-world.js';
import { SessionWorld } from '../support/runtime/session-world.js';
import { testAttach } from './attach-contract.js';
import { testRuntime } from './runtime-contract.js';
import { testSessions } from './session-contract.js';
import { testTyping } from './typing-contract.js';

describe.skipIf(!hasTool('tmux'))('with tmux', () => {
  testRuntime('tmux', () => new SessionWorld('tmux'));
  testSessions(() => new SessionWorld('tmux'));
  testAttach(() => new SessionWorld('tmux'), { isTransparent: false, size: 'fixed', dropsSlow: false });
  testTyping(
    () => new SessionWorld('tmux'),
    (world, instanceId) => ({
      file: 'tmux',
      parameters: ['-S', tmuxSocket(world.servers), 'attach', '-t', `=${instanceId}-1`],
      leave: '\x02d',
    }),
  );
});
