/** A node's offer follows the tool as it comes, changes and goes, without a process for every look. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { toolProbe } from '../../../src/runtime/session/tool-offer.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-offer-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function install(name: string, says: string, code = 0): void {
  const path = join(directory, name);
  rmSync(path, { force: true });
  writeFileSync(path, `#!/bin/sh\necho x >>${directory}/asked\necho "${says}"\nexit ${code}\n`, {
    mode: 0o755,
  });
}

const timesAsked = (): number => readFileSync(join(directory, 'asked'), 'utf8').split('\n').length - 1;

it('asks a program once, and again when its file changed', async () => {
  const probe = toolProbe('screen', directory);
  install('screen', 'Screen version 4.09.00 (GNU) 30-Jan-22', 1);
  for (let n = 0; n < 3; n++) expect(await probe()).toEqual({ version: '4.09.00', reason: null });
  expect(timesAsked()).toBe(1);
  install('screen', 'Screen version 5.0.0 (build on 2024)', 1);
  expect(await probe()).toEqual({ version: '5.0.0', reason: null });
  expect(timesAsked()).toBe(2);
});

it('offers no screen to a user without an entry in /etc/passwd', async () => {
  const noEntry = (): never => {
    throw new Error('ENOENT: uv_os_get_passwd');
  };
  install('screen', 'Screen version 4.09.00 (GNU) 30-Jan-22', 1);
  install('tmux', 'tmux 3.3a');
  expect(await toolProbe('screen', directory, noEntry)()).toEqual({
    version: '4.09.00',
    reason: expect.stringMatching(/no entry in \/etc\/passwd: add one, or take the runtime tmux or process/),
  });
  expect(await toolProbe('tmux', directory, noEntry)()).toEqual({ version: '3.3a', reason: null });
});

it('notices that a tool goes and comes', async () => {
  const probe = toolProbe('tmux', directory);
  expect(await probe()).toEqual({ version: null, reason: expect.stringContaining('not installed') });
  install('tmux', 'tmux 3.3a');
  expect(await probe()).toEqual({ version: '3.3a', reason: null });
  rmSync(join(directory, 'tmux'));
  expect(await probe()).toMatchObject({ version: null });
});

it('says of a program that does not run, or is another one, why it is not offered', async () => {
  const probe = toolProbe('screen', directory);
  writeFileSync(join(directory, 'screen'), 'no program', { mode: 0o755 });
  expect((await probe()).reason).toContain('cannot be run');
  install('screen', 'something else');
  appendFileSync(join(directory, 'asked'), '');
  expect((await probe()).reason).toContain('something else');
});
