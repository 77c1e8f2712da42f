import { expect, it } from 'vitest';
import { foldersAbove, isGoodPath, treeOf } from '../../../src/dashboard/screens/templates/tree.js';
import { planUpload } from '../../../src/dashboard/screens/templates/upload-plan.js';

it('makes folders of paths, in order, with the files below each', () => {
  const root = treeOf(['b.txt', 'a/z/deep.txt', 'a/one.txt', 'a.txt']);
  expect(root.count).toBe(4);
  expect(root.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
  const [a] = root.folders;
  expect(a).toMatchObject({ name: 'a', path: 'a', count: 2, folders: [{ path: 'a/z', count: 1 }] });
  expect(foldersAbove('a/z/deep.txt')).toEqual(['a', 'a/z']);
});

it('takes no path that leaves the template', () => {
  expect(['a', 'a/b c', 'ä.txt'].map(isGoodPath)).toEqual([true, true, true]);
  expect(['', '/a', 'a/', 'a//b', '../a', 'a/./b', 'a\\b'].map(isGoodPath)).toEqual(Array(7).fill(false));
});

it('plans what an upload makes, replaces and unpacks', () => {
  const file = new File(['x'], 'x');
  const chosen = ['game.yml', 'new/one.yml', 'pack.ZIP'].map((path) => ({ path, file }));
  const plan = (unpacksZips: boolean): string[] =>
    planUpload({ chosen, present: new Set(['config/game.yml']), into: '/config/', unpacksZips }).map(
      ({ do: how, path }) => `${how} ${path}`,
    );
  expect(plan(true)).toEqual(['replace config/game.yml', 'create config/new/one.yml', 'unpack pack.ZIP']);
  expect(plan(false)[2]).toBe('create config/pack.ZIP');
});
