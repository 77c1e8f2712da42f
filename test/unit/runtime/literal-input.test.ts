/** How bytes reach a terminal on which people type too: what is done to the terminal, in which order. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type InputTerminal, LiteralInput } from '../../../src/runtime/session/input/literal-input.js';
import type { TerminalMode } from '../../../src/runtime/session/input/session-terminal.js';
import { InputFull } from '../../../src/runtime/session/session-tool.js';
import { until } from '../../support/until.js';

/** One before the terminal becomes literal, and then nine within a second. */
const LOOKS_OF_A_SECOND = 10;
const RUN = { instanceId: 'aaaaaa', run: 1, name: 'aaaaaa-1', directory: '/nowhere' };

let steps: string[];
let mode: TerminalMode;
let isUnread: boolean;
let writeFails: boolean;
/** True: a busy machine does not set the terminal in time. */
let isLate: boolean;
/** True: the tool does not answer whether it has passed on everything. */
let isSilent: boolean;
let silences: number;
let isServed: boolean;
/** Called when bytes of Drover were written. */
let onWritten: () => void;
let onFlush: () => void;
let input: LiteralInput;
/** How often it was asked whether anything is unread. */
let looks: number;

beforeEach(() => {
  steps = [];
  mode = 'lines';
  isUnread = false;
  writeFails = false;
  isLate = false;
  isSilent = false;
  silences = 0;
  isServed = true;
  onWritten = () => {};
  onFlush = () => {};
  looks = 0;
  const terminal: InputTerminal = {
    mode: async () => mode,
    setLiteral: async (isLiteral, isLong) => {
      if (isLate) return false;
      mode = isLiteral ? 'literal' : 'lines';
      steps.push(isLong === true ? `${mode} for long` : mode);
      return true;
    },
    isUnread: async () => {
      looks += 1;
      return isUnread;
    },
  };
  input = new LiteralInput({
    tool: {
      mostUnreadBytes: 10_000,
      write: async (_run, bytes) => {
        if (writeFails && bytes.length > 1) throw new Error('there is no session');
        steps.push(bytes.length > 9 ? `${bytes.length} bytes` : JSON.stringify(bytes.toString()));
        if (bytes.length > 1) onWritten();
      },
      flush: async () => {
        onFlush();
        silences += isSilent ? 1 : 0;
        if (isSilent || !isServed) throw new Error('the tool did not answer');
      },
      isServed: () => isServed,
    },
    run: RUN,
    terminal: () => terminal,
  });
});

const send = (text: string): Promise<void> => input.send(Buffer.from(text));
const untilSteps = (...expected: string[]): Promise<void> => until(() => expect(steps).toEqual(expected));
const KILL = '"\\u0015"';

describe('what Drover sends', () => {
  it('comes after a half-typed line was taken away, and the terminal is for people again once it is read', async () => {
    await send('hi\n');
    await untilSteps(KILL, 'literal', '"hi\\n"', 'lines');
    await send('ho\n');
    await untilSteps(KILL, 'literal', '"hi\\n"', 'lines', KILL, 'literal', '"ho\\n"', 'lines');
  });

  it('goes on in a terminal that is literal still', async () => {
    isUnread = true;
    await send('hi\n');
    await send('ho\n');
    isUnread = false;
    await untilSteps(KILL, 'literal', '"hi\\n"', '"ho\\n"', 'lines');
  });

  it('loses nothing of more than the terminal holds, also when it becomes more', async () => {
    isUnread = true;
    await send(`${'x'.repeat(2999)}\n`);
    await send(`${'y'.repeat(2999)}\n`);
    await send('z\n');
    isUnread = false;
    await until(() => {
      input.look();
      expect(steps).toEqual([
        KILL,
        'literal',
        '3000 bytes',
        'literal for long',
        '3000 bytes',
        '"z\\n"',
        'lines for long',
      ]);
    });
    await send('hi\n');
    await until(() => expect(steps.slice(-4)).toEqual([KILL, 'literal', '"hi\\n"', 'lines']));
  });

  it('is all that a program gets that rules its terminal itself', async () => {
    mode = 'own';
    await send('hi\n');
    expect(steps).toEqual(['"hi\\n"']);
  });

  it('is refused while a busy machine does not tell whether the terminal would change it', async () => {
    mode = 'unknown';
    await expect(send('hi\n')).rejects.toThrow('the terminal did not answer in time: nothing was written');
    expect(steps).toEqual([]);
  });

  it('is refused when a busy machine does not make the terminal literal in time', async () => {
    isLate = true;
    await expect(send('hi\n')).rejects.toThrow('the terminal did not answer in time: nothing was written');
    isLate = false;
    await send('ho\n');
    await untilSteps(KILL, KILL, 'literal', '"ho\\n"', 'lines');
  });

  it('keeps the terminal literal while the tool does not tell that it has passed on all', async () => {
    onWritten = () => {
      isSilent = true;
    };
    await send('x'.repeat(9000));
    await until(() => expect(silences > 2 || steps.includes('lines for long')).toBe(true));
    expect(steps).toEqual([KILL, 'literal for long', '9000 bytes']);
    isSilent = false;
    await until(() => {
      input.look();
      expect(steps.at(-1)).toBe('lines for long');
    });
  });

  it('keeps the terminal literal while the tool passes on part after part to a program that reads at once', async () => {
    let kept = 0;
    onWritten = () => {
      kept = 9000;
    };
    onFlush = () => {
      kept = Math.max(0, kept - 4095);
    };
    await send('x'.repeat(9000));
    await until(() => expect(steps).toContain('lines for long'));
    expect(kept).toBe(0);
  });

  it('does not wait for a session that is gone', async () => {
    onWritten = () => {
      isServed = false;
    };
    await send('hi\n');
    await untilSteps(KILL, 'literal', '"hi\\n"', 'lines');
  });

  it('waits in the terminal for a program that does not read, which is for people all the same', async () => {
    isUnread = true;
    await send('hi\n');
    await untilSteps(KILL, 'literal', '"hi\\n"', 'lines');
  });

  it('does not count what people typed before and the program has read', async () => {
    await input.type(Buffer.from('x'.repeat(5000)));
    const sending = send('hi\n');
    await until(() => expect(steps).toContain('literal'));
    isUnread = true;
    await sending;
    await untilSteps('5000 bytes', KILL, 'literal', '"hi\\n"', 'lines');
  });

  it('keeps the terminal literal while more of it waits than the terminal holds, and looks again later', async () => {
    isUnread = true;
    await send('x'.repeat(4096));
    await until(() => expect(looks).toBe(LOOKS_OF_A_SECOND));
    expect(steps).toEqual([KILL, 'literal for long', '4096 bytes']);
    isUnread = false;
    await until(() => {
      input.look();
      expect(steps).toEqual([KILL, 'literal for long', '4096 bytes', 'lines for long']);
    });
  });

  it('is refused while too much of it waits unread', async () => {
    isUnread = true;
    await send('x'.repeat(6000));
    await expect(send('x'.repeat(6000))).rejects.toThrow(InputFull);
    isUnread = false;
    await send('y'.repeat(6000));
    await until(() => expect(steps.at(-1)).toBe('lines for long'));
    expect(steps.filter((step) => step.endsWith('bytes'))).toEqual(['6000 bytes', '6000 bytes']);
  });

  it('leaves the terminal for people when it cannot be written', async () => {
    writeFails = true;
    await expect(send('hi\n')).rejects.toThrow('no session');
    await untilSteps(KILL, 'literal', 'lines');
  });

  it('finds a terminal that an earlier owner left literal, and gives it back', async () => {
    mode = 'literal';
    await input.takeUp();
    await untilSteps('lines');
  });
});
