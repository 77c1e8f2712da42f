/**
 * The promises of attached terminals, as one suite for each runtime that shows terminals: what is typed reaches the
 * program, what it prints is seen and logged, and whoever comes, goes or stands still disturbs nobody.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TerminalSize } from '../../src/model/run/attachment.js';
import type { RunId, Runtime } from '../../src/runtime/runtime.js';
import { ExitWatch } from '../support/exit-watch.js';
import { TerminalClient } from '../support/runtime/terminal-client.js';
import { until } from '../support/until.js';
import type { RuntimeWorld } from './runtime-contract.js';

/** How the terminals of a runtime may differ. */
interface TerminalAbilities {
  /** True: every byte passes as it is, and Enter is a line feed. False: a terminal as any other (screen, tmux). */
  readonly isTransparent: boolean;
  /** What the program sees of the sizes of windows. Absent: it has no terminal. */
  readonly size?: 'smallest' | 'fixed';
  /** Whether a reader that stands still is dropped for certain. False: the tool between may leave output out for it. */
  readonly dropsSlow?: boolean;
}

const SIZE: TerminalSize = { columns: 100, rows: 30 };
const ECHO = 'echo ready; while IFS= read -r line; do echo "got $line"; done';
const SIZES = 'while :; do stty size; sleep 0.05; done';

export function testAttach(
  open: () => RuntimeWorld | Promise<RuntimeWorld>,
  { isTransparent, size, dropsSlow = true }: TerminalAbilities,
): void {
  describe('attached terminals', () => {
    const enter = isTransparent ? '\n' : '\r';
    let world: RuntimeWorld;
    let runtime: Runtime;
    let exits: ExitWatch;

    beforeEach(async () => {
      world = await open();
      runtime = world.runtime();
      exits = new ExitWatch(runtime);
    });
    afterEach(() => world.close());

    const untilLogged = (instanceId: string, text: string): Promise<void> =>
      until(async () => expect(await world.lines(instanceId)).toContain(text));
    const untilSeen = (client: TerminalClient, text: string): Promise<void> =>
      until(() => expect(client.seen).toContain(text));
    const attach = async (run: RunId, at = SIZE): Promise<TerminalClient> => {
      const attachment = await runtime.attach?.(run, at);
      if (attachment === undefined) throw new Error('the runtime shows no terminals');
      return new TerminalClient(attachment);
    };
    const started = async (command: string) => {
      const spec = world.spec('aaaaaa', command);
      await runtime.start(spec);
      return spec;
    };

    it('show what was there before, and what is typed reaches the program and its answer the log', async () => {
      const spec = await started(ECHO);
      await untilLogged('aaaaaa', 'ready');
      const client = await attach(spec);
      expect(client.attachment.isTransparent).toBe(isTransparent);
      await untilSeen(client, 'ready');
      await client.type(`by hand${enter}`);
      await untilSeen(client, 'got by hand');
      await untilLogged('aaaaaa', 'got by hand');
      client.attachment.close();
      await runtime.write(spec, Buffer.from('by Drover\n'));
      await untilLogged('aaaaaa', 'got by Drover');
    });

    it('are several at once, and one that leaves takes nobody along', async () => {
      const spec = await started(ECHO);
      await untilLogged('aaaaaa', 'ready');
      const [first, second] = [await attach(spec), await attach(spec)];
      await untilSeen(first, 'ready');
      await untilSeen(second, 'ready');
      await first.type(`one${enter}`);
      await untilSeen(second, 'got one');
      first.attachment.close();
      expect(await first.ended).toMatchObject({ reason: 'lost' });
      await second.type(`two${enter}`);
      await untilSeen(second, 'got two');
      await untilLogged('aaaaaa', 'got two');
      expect(first.seen).not.toContain('got two');
      second.attachment.close();
      expect(await runtime.isAlive(spec)).toBe(true);
    });

    it.runIf(isTransparent && size !== undefined)('give the program a typed Ctrl-C as it is', async () => {
      const spec = await started('echo ready; head -c 2 | od -An -v -tx1');
      const client = await attach(spec);
      await untilSeen(client, 'ready');
      await client.type('\x03\n');
      await untilSeen(client, ' 03 0a');
      await exits.until(spec);
    });

    it.runIf(!isTransparent)('interrupt the program with a typed Ctrl-C', async () => {
      const spec = await started(ECHO);
      await untilLogged('aaaaaa', 'ready');
      const client = await attach(spec);
      await untilSeen(client, 'ready');
      await client.type('\x03');
      expect(await exits.until(spec)).toMatchObject({ code: 130 });
      expect(await client.ended).toMatchObject({ reason: 'exited' });
    });

    it.runIf(!isTransparent)('pass keys of the tool itself on to the program', async () => {
      const spec = await started('stty raw -echo; echo ready; exec od -An -v -tx1 -N 6');
      await untilLogged('aaaaaa', 'ready');
      const client = await attach(spec);
      await untilSeen(client, 'ready');
      await client.type('\x01c\x02cab');
      await exits.until(spec);
      expect(await world.lines('aaaaaa')).toEqual(['ready', ' 01 63 02 63 61 62']);
    });

    it.runIf(size !== undefined)(
      'have the program see a size that fits, and the old one when all are gone',
      async () => {
        const spec = await started(SIZES);
        const untilSize = (text: string): Promise<void> =>
          until(async () => expect((await world.lines('aaaaaa')).at(-2)).toBe(text));
        await until(async () => expect((await world.lines('aaaaaa')).length).toBeGreaterThan(2));
        const before = (await world.lines('aaaaaa')).at(-2) ?? '';
        const during = (text: string): Promise<void> => untilSize(size === 'fixed' ? before : text);
        const first = await attach(spec, { columns: 100, rows: 30 });
        await during('30 100');
        const second = await attach(spec, { columns: 90, rows: 40 });
        await during('30 90');
        second.attachment.resize({ columns: 120, rows: 20 });
        await during('20 100');
        second.attachment.close();
        first.attachment.resize({ columns: 70, rows: 25 });
        await during('25 70');
        first.attachment.close();
        await untilSize(before);
      },
    );

    it('end with the run, and say how it ended', async () => {
      const spec = await started('echo ready; read -r line; echo bye; exit 3');
      const client = await attach(spec);
      await untilSeen(client, 'ready');
      await client.type(`go${enter}`);
      expect(await exits.until(spec)).toMatchObject({ code: 3 });
      const ended = await client.ended;
      expect(ended).toEqual({
        kind: 'ended',
        reason: 'exited',
        message: 'instance aaaaaa exited with code 3',
      });
      await expect(attach(spec)).rejects.toMatchObject({ code: 'DRV_INSTANCE_NOT_RUNNING' });
    });

    it('of a reader that stands still hold up neither the program nor its log', async () => {
      const spec = await started('read -r line; seq 1 500000; exit 5');
      const attachment = await runtime.attach?.(spec, SIZE);
      await runtime.write(spec, Buffer.from('go\n'));
      expect(await exits.until(spec)).toMatchObject({ code: 5 });
      expect((await world.lines('aaaaaa')).at(-1)).toBe('500000');
      if (attachment === undefined) throw new Error('the runtime shows no terminals');
      const slow = new TerminalClient(attachment);
      expect(dropsSlow ? ['too-slow'] : ['too-slow', 'exited']).toContain((await slow.ended).reason);
      expect(slow.seen.length).toBeLessThan(3_000_000);
    });
  });
}
