/** What outlives the daemon of what it knows of an instance. */
import { afterEach, expect, it } from 'vitest';
import { HandleBook, newHandle } from '../../../src/node/handle-book.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';
import { quietLogger } from '../../support/templates/template-trees.js';

const store = new MemoryStore();
const clock = new FakeClock();
afterEach(() => store.close());

const open = async (): Promise<HandleBook> => {
  const book = new HandleBook(new WriteBehind({ store, clock, logger: quietLogger }));
  await book.load(clock);
  return book;
};

it('every field that is kept comes back, the warning of the last install too', async () => {
  const book = await open();
  const fields = {
    id: 'aaaaaa',
    configurationName: 'web',
    static: false,
    runtime: 'process',
    restartToken: 2,
  };
  const kept = { run: 3, isPrepared: true, warning: 'fileModifications: x is in none of the templates' };
  book.put({ ...newHandle(fields), ...kept });
  await book.keep();
  expect((await open()).get('aaaaaa')).toEqual({ ...newHandle(fields), ...kept });
});
