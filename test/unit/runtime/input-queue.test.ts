/**
 * Input for a session: in order, one write at a time. Waiting input is sent together, and only an allowed amount
 * waits.
 */
import { expect, it } from 'vitest';
import { InputQueue } from '../../../src/runtime/session/input/input-queue.js';

const text = (bytes: Buffer): string => bytes.toString('latin1');

it('sends what came meanwhile as one', async () => {
  const sent: string[] = [];
  const gates: (() => void)[] = [];
  const queue = new InputQueue(async (bytes) => {
    sent.push(text(bytes));
    await new Promise<void>((resolve) => gates.push(resolve));
  });
  const answers = ['a', 'b', 'c'].map((letter) => queue.push(Buffer.from(letter)));
  expect(sent).toEqual(['a']);
  gates.shift()?.();
  expect(await answers[0]).toBe(true);
  expect(sent).toEqual(['a', 'bc']);
  gates.shift()?.();
  expect(await Promise.all(answers)).toEqual([true, true, true]);
});

it('refuses more than 64 KB, and takes more when they are gone', async () => {
  const gates: (() => void)[] = [];
  const queue = new InputQueue(() => new Promise<void>((resolve) => gates.push(resolve)));
  const first = queue.push(Buffer.alloc(64 * 1024));
  expect(await queue.push(Buffer.from('x'))).toBe(false);
  gates.shift()?.();
  expect(await first).toBe(true);
  const next = queue.push(Buffer.from('x'));
  gates.shift()?.();
  expect(await next).toBe(true);
});

it('tells everybody whose bytes were in a write that failed, and goes on', async () => {
  let fails = true;
  const queue = new InputQueue(async () => {
    if (fails) throw new Error('no such session');
  });
  await expect(queue.push(Buffer.from('a'))).rejects.toThrow('no such session');
  fails = false;
  expect(await queue.push(Buffer.from('b'))).toBe(true);
});
