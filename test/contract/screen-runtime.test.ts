/**
 * The screen runtime keeps the contracts of all runtimes and of sessions, and what is screen's own.
 * Needs `npm run build` for the session owner, and screen.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ExitWatch } from '../support/exit-watch.js';
import { hasTool } from '../support/runtime/process-world.js';
import { SessionWorld } from '../support/runtime/session-world.js';
import { until } from '../support/until.js';
import { testAttach } from './attach-contract.js';
import { testRuntime } from './runtime-contract.js';
import { testSessions } from './session-contract.js';
import { testTyping } from './typing-contract.js';

describe.skipIf(!hasTool('screen'))('with screen', () => {
  // screen keeps input that a program does not read, up to its own bounds, and reports nothing.
  testRuntime('screen', () => new SessionWorld('screen'), { noticesUnread: false });
  testSessions(() => new SessionWorld('screen'));
  testAttach(() => new SessionWorld('screen'), { isTransparent: false, size: 'smallest', dropsSlow: false });
  testTyping(
    () => new SessionWorld('screen'),
    (world, instanceId) => ({
      file: 'screen',
      parameters: ['-r', instanceId],
      environment: { SCREENDIR: world.servers },
      leave: '\x01d',
    }),
  );

  describe('a session of screen', () => {
    let world: SessionWorld;
    beforeEach(() => {
      world = new SessionWorld('screen');
    });
    afterEach(() => world.close());

    const echo = 'echo ready; while read -r line; do echo "got $line"; done';
    const untilLogged = (text: string): Promise<void> =>
      until(async () => expect(await world.lines('aaaaaa')).toContain(text));

    it('is reached again when somebody removed its socket, also by another session owner', async () => {
      const runtime = world.runtime();
      const spec = world.spec('aaaaaa', echo);
      await runtime.start(spec);
      rmSync(world.servers, { recursive: true });
      await runtime.write(spec, Buffer.from('one\n'));
      await untilLogged('got one');
      await runtime.release();
      process.kill(world.sessionOwner(), 'SIGKILL');
      // screen itself ends when its socket goes while it answers a query: those of the killed owner come first.
      await until(() => expect(queriesOf(world)).toEqual([]));
      for (const name of readdirSync(world.servers)) rmSync(join(world.servers, name));
      const next = world.runtime();
      expect(await next.adopt()).toMatchObject([{ instanceId: 'aaaaaa', exit: null }]);
      await next.write(spec, Buffer.from('two\n'));
      await untilLogged('got two');
    });

    it('takes more than the terminal holds from a program that reads late, and stays usable if it never does', async () => {
      const runtime = world.runtime();
      const exits = new ExitWatch(runtime);
      const late = world.spec('aaaaaa', 'read -r go </dev/null; sleep 0.5; head -c 60000 | wc -c');
      const never = world.spec('bbbbbb', 'while :; do echo tick; sleep 0.1; done');
      await runtime.start(late);
      await runtime.start(never);
      const line = Buffer.from(`${'x'.repeat(2999)}\n`);
      await runtime.write(late, Buffer.concat(Array.from({ length: 20 }, () => line)));
      expect(await exits.until(late)).toMatchObject({ code: 0 });
      expect(await world.lines('aaaaaa')).toEqual(['60000']);
      for (let n = 0; n < 30; n++) await runtime.write(never, line);
      const before = (await world.lines('bbbbbb')).length;
      await until(async () => expect((await world.lines('bbbbbb')).length).toBeGreaterThan(before + 5));
    });
  });
});

/** The command lines of `screen -Q` that wait for a server of the world. */
function queriesOf(world: SessionWorld): string[] {
  const servers = readdirSync(world.servers).filter((name) => !name.includes('-query'));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes('\0-Q\0') && servers.some((name) => line.includes(`\0${name}\0`)));
}
