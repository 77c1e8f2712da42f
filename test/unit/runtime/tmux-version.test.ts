import { describe, expect, it } from 'vitest';
import { readTmuxVersion } from '../../../src/runtime/session/tool-offer.js';

describe('version of tmux', () => {
  it.each(['3.2', '3.2a', '3.3a', '3.10', '4.0', 'next-3.5', 'openbsd-7.4', 'master'])(
    'takes %s',
    (version) => {
      expect(readTmuxVersion(`tmux ${version}\n`)).toEqual({ version, reason: null });
    },
  );

  it.each(['1.8', '2.9a', '3.0', '3.1c', 'next-3.1'])('refuses %s and says what to install', (version) => {
    const reason = `tmux ${version} is too old: install 3.2 or newer`;
    expect(readTmuxVersion(`tmux ${version}\n`)).toEqual({ version, reason });
  });
});
