/** The notice that the page of a tab is older than the server. */
import { signal } from '@preact/signals';
import { expect, it, vi } from 'vitest';
import type { ConnectionState } from '../../../src/dashboard/live/live-connection.js';
import { buildOf, watchBuild } from '../../../src/dashboard/services/page-build.js';

const pageOf = (name: string): string =>
  `<html><head><link href="./assets/x.css"><script type="module" crossorigin src="./assets/${name}.js"></script></head>`;

function makeBuild(served: () => Promise<string>, own = buildOf(pageOf('index-a'))) {
  const connection = signal<ConnectionState>({ phase: 'connecting', since: null });
  const read = vi.fn(served);
  const isOld = watchBuild(own, read, connection);
  const connectAgain = async (): Promise<boolean> => {
    connection.value = { phase: 'lost', since: 1 };
    connection.value = { phase: 'live' };
    await Promise.resolve();
    await vi.waitFor(() => expect(read).toHaveBeenCalled());
    await new Promise(setImmediate);
    return isOld.value;
  };
  return { read, connectAgain };
}

it('is named after the script of the page, whatever stands before it', () => {
  expect(buildOf(pageOf('index-a1'))).toBe('assets/index-a1.js');
  expect(buildOf('<script type="module" src="https://x.org/drover/ui/assets/i.js">')).toBe('assets/i.js');
  expect(buildOf('<html>')).toBeNull();
});

it('is not old while the server has the same, and asks only when a connection is there', async () => {
  const { read, connectAgain } = makeBuild(async () => pageOf('index-a'));
  expect(read).not.toHaveBeenCalled();
  expect(await connectAgain()).toBe(false);
});

it('is old once the server has another one, and no longer when that was taken back', async () => {
  let name = 'index-b';
  const { connectAgain } = makeBuild(async () => pageOf(name));
  expect(await connectAgain()).toBe(true);
  name = 'index-a';
  expect(await connectAgain()).toBe(false);
});

it.each([
  ['the answer is no page', async () => 'bad gateway', buildOf(pageOf('index-a'))],
  ['no answer comes', () => Promise.reject(new Error('refused')), buildOf(pageOf('index-a'))],
  ['it does not know itself', async () => pageOf('index-b'), null],
])('is not old when %s', async (_case, served, own) => {
  const { connectAgain } = makeBuild(served, own);
  expect(await connectAgain()).toBe(false);
});
