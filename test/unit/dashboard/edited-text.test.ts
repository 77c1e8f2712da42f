import { expect, it } from 'vitest';
import { Drafts, EditedText } from '../../../src/dashboard/parts/editor/edited-text.js';

class FakeStorage {
  readonly entries = new Map<string, string>();
  isFull = false;

  getItem(name: string): string | null {
    return this.entries.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    if (this.isFull) throw new Error('QuotaExceededError');
    this.entries.set(name, value);
  }

  removeItem(name: string): void {
    this.entries.delete(name);
  }
}

const FIRST = { text: 'one', revision: 'r1' };

it('gives back what was typed, with the revision that it was made from, until it is saved', () => {
  const storage = new FakeStorage();
  new EditedText(new Drafts(storage, 'ann'), 'lobby', FIRST).type('mine');
  const again = new EditedText(new Drafts(storage, 'ann'), 'lobby', { text: 'theirs', revision: 'r2' });
  expect(again.wasRestored).toBe(true);
  expect(again.text.value).toBe('mine');
  expect(again.base.value).toEqual(FIRST);
  again.rebase({ text: 'mine', revision: 'r3' });
  expect(again.isDirty.value).toBe(false);
  expect(storage.entries.size).toBe(0);
});

it('gives nothing to another key', () => {
  const storage = new FakeStorage();
  new EditedText(new Drafts(storage, 'ann'), 'lobby', FIRST).type('mine');
  const other = new EditedText(new Drafts(storage, 'bob'), 'lobby', FIRST);
  expect(other.text.value).toBe('one');
  expect(storage.entries.size).toBe(0);
});

it('says when the browser has no room to keep it', () => {
  const storage = new FakeStorage();
  storage.isFull = true;
  const edited = new EditedText(new Drafts(storage, 'ann'), 'lobby', FIRST);
  edited.type('mine');
  expect(edited.isKept.value).toBe(false);
  edited.take(FIRST);
  expect(edited.isKept.value).toBe(true);
  expect(edited.text.value).toBe('one');
});
