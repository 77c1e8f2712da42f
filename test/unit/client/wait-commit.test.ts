/** `drover wait commit` against answers of a master, one after the other. */
import { expect, it } from 'vitest';
import type { ApiClient } from '../../../src/client/api-client.js';
import { waitForCommits } from '../../../src/client/live/wait-commit.js';
import { ClientError, EXIT } from '../../../src/command-tree/runs/client-error.js';
import type { CommitProgress } from '../../../src/operations/commit-progress.js';
import { given } from '../../support/control-plane/given.js';

type State = CommitProgress['state'];

/** Waits for commits while a master answers these states in turn, the last one for ever; `gone`: it cannot be reached. */
async function waited(
  goal: 'in-force' | 'rolled-out',
  states: readonly (State | 'gone')[],
  commits = ['24cca00'],
) {
  const lines: string[] = [];
  const said: string[] = [];
  let asked = 0;
  const get = async (path: string): Promise<unknown> => {
    const state = states[Math.min(asked++, states.length - 1)];
    if (state === 'gone') throw new ClientError(EXIT.unreachable, 'no answer');
    const files = [{ file: 'lobby.json', name: 'lobby', why: 'pending' }];
    return { commit: null, state, message: `${path} is ${state}`, files, total: 3 };
  };
  const output = {
    isColoured: false,
    signal: new AbortController().signal,
    write: async (text: string) => lines.push(text) > 0,
    say: () => undefined,
    show: (text: string) => said.push(text),
  };
  const question = { commits, goal, timeoutMs: states.at(-1) === 'pending' ? 50 : 60_000, everyMs: 1 };
  const end = await waitForCommits(given<ApiClient>({ get } as never), question, output).catch(
    (error) => error,
  );
  return { lines, said, end, asked };
}

it('waits until the commit is in force, over what cannot be reached for a while', async () => {
  const { lines, asked } = await waited('in-force', ['unknown', 'gone', 'elsewhere', 'pending', 'in-force']);
  expect([lines, asked]).toEqual([['commit 24cca00 is in-force\n'], 5]);
  expect((await waited('in-force', ['rolled-out'])).lines).toHaveLength(1);
});

it('waits longer for the end of its rollouts', async () => {
  const { lines, asked } = await waited('rolled-out', ['in-force', 'in-force', 'rolled-out']);
  expect([lines, asked]).toEqual([['commit 24cca00 is rolled-out\n'], 3]);
});

it('says why when the time is over, and ends with 6', async () => {
  const { said, end } = await waited('in-force', ['pending']);
  expect(end).toMatchObject({
    exitCode: EXIT.timedOut,
    message: expect.stringMatching(/^commit 24cca00: not in-force within/),
  });
  expect(said).toEqual([
    '/configuration-files/commits/24cca00 is pending\n  lobby.json: pending\n  and 2 more',
  ]);
});

it('refuses what is no hash', async () => {
  expect((await waited('in-force', ['in-force'], ['main'])).end).toMatchObject({ exitCode: EXIT.usage });
});
