/** A screen that is drawn again and again, as a person sees it. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { liveOutput } from '../../../src/client/live/live-output.js';
import { LiveScreen } from '../../../src/client/live/live-screen.js';
import { TerminalScreen } from '../../support/daemon/terminal-screen.js';

it('shows the newest text alone, as much as fits, and no control sequences of others', async () => {
  const terminal = Object.assign(new PassThrough(), { columns: 20, rows: 5 });
  let raw = '';
  terminal.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
  });
  const said: string[] = [];
  const screen = new LiveScreen(
    liveOutput(terminal, (line) => said.push(line), false),
    terminal,
  );
  const shown = (): string[] => {
    const seen = new TerminalScreen(20);
    const last = raw.split('\x1b[H').at(-1) ?? '';
    seen.write(last.replaceAll('\n', '\r\n'));
    return seen.lines;
  };
  await screen.draw('one\ntwo\nthree');
  expect(shown()).toEqual(['one', 'two', 'three', '']);
  await screen.draw('four \x1b[2J\x1b]0;title\x07five and much more than fits');
  expect(shown()).toEqual(['four five and much', 'more than fits', '']);
  await screen.draw('1\n2\n3\n4\n5');
  expect(shown()).toEqual(['1', '2', '3', '... and 2 lines more', '']);
  screen.setStatus('lost');
  await screen.draw('1\n2\n3\n4\n5');
  expect(shown()).toEqual(['1', '... and 4 lines more', '', 'lost', '']);
});
