/** What an attached terminal is made of: the keys that leave it, and the modes that are taken back. */
import { describe, expect, it } from 'vitest';
import { DetachKeys } from '../../../src/client/live/detach-keys.js';
import { TerminalModes } from '../../../src/client/live/terminal-modes.js';

describe('the keys that leave', () => {
  it.each<[string, readonly string[], string, boolean]>([
    ['together', ['ab\x10\x11cd'], 'ab', true],
    ['one after the other', ['a\x10', '\x11'], 'a', true],
    ['not with another key between them', ['\x10a\x11'], '\x10a\x11', false],
    ['after a Ctrl-P too many', ['\x10\x10', '\x11'], '\x10', true],
    ['not Ctrl-Q alone', ['\x11q'], '\x11q', false],
    ['not a Ctrl-P that still waits for its next key', ['a\x10'], 'a', false],
  ])('are found %s', (_how, typed, passed, isDetached) => {
    const keys = new DetachKeys();
    const taken = typed.map((text) => keys.take(Buffer.from(text)));
    expect(taken.map(({ bytes }) => bytes.toString()).join('')).toBe(passed);
    expect(taken.at(-1)?.isDetached).toBe(isDetached);
  });
});

describe('the modes of a terminal', () => {
  const restored = (...output: readonly string[]): string => {
    const modes = new TerminalModes();
    for (const text of output) modes.take(Buffer.from(text));
    return modes.restoring();
  };

  it('are taken back where the session has changed them and left them so', () => {
    expect(restored('plain \x1b[31mred')).toBe('\x1b[0m');
    expect(restored('\x1b[?1049h\x1b[?25l\x1b[?1000;1006h', '\x1b=')).toBe(
      '\x1b[r\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1006l\x1b>\x1b[0m',
    );
    expect(restored('\x1b[?1049h\x1b[?25l', '\x1b[?25h\x1b[?1049l')).toBe('\x1b[0m');
  });

  it('are seen also where the output is cut within a sequence', () => {
    expect(restored('\x1b[?20', '04h')).toBe('\x1b[?2004l\x1b[0m');
  });
});
