/** The commands that were sent from this tab. */
import { expect, it } from 'vitest';
import { CommandHistory } from '../../../src/dashboard/parts/command-history.js';

function storage() {
  const stored = new Map<string, string>();
  return {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
  };
}

it('goes back and forth, and comes back to what was being typed', () => {
  const history = new CommandHistory(storage(), 's1', 'a1');
  history.add('list');
  history.add('say hello');
  history.add('list');
  expect(history.commands).toEqual(['say hello', 'list']);
  expect([history.older('dra'), history.older('list'), history.older('say hello')]).toEqual([
    'list',
    'say hello',
    undefined,
  ]);
  expect([history.newer(), history.newer(), history.newer()]).toEqual(['list', 'dra', undefined]);
});

it('is there after a reload, for this instance and this session alone', () => {
  const kept = storage();
  new CommandHistory(kept, 's1', 'a1').add('list');
  expect(new CommandHistory(kept, 's1', 'a1').older('')).toBe('list');
  expect(new CommandHistory(kept, 's1', 'b2').commands).toEqual([]);
  expect(new CommandHistory(kept, 's2', 'a1').commands).toEqual([]);
});
