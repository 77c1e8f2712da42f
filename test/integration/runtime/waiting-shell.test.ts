/** The shell that waits for its order: how the order reaches it, and what it says before. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { loadNativePty } from '../../../src/runtime/process/native-pty.js';
import { OrderFile, removeOrphans } from '../../../src/runtime/process/order-file.js';
import { PseudoTerminal } from '../../../src/runtime/process/pseudo-terminal.js';
import { orderText, waitingShell } from '../../../src/runtime/process/shell-prelude.js';
import { hasTool } from '../../support/runtime/process-world.js';

const ORDER = {
  command: 'echo "$WORD"',
  environment: { WORD: "it's up" },
  workingDirectory: '/',
  controlGroups: [],
};

function orderFile(): OrderFile {
  const order = new OrderFile();
  onTestFinished(() => order.close());
  return order;
}

it.skipIf(process.getuid?.() !== 0 || !hasTool('setpriv'))(
  'gets its order without a right to look into the owner, which has more capabilities',
  async () => {
    const order = orderFile();
    const { file, parameters } = waitingShell(order.path, [], true);
    const none = ['--bounding-set=-all', '--inh-caps=-all'];
    const shell = spawn('setpriv', [...none, file, ...parameters], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(shell.stdout, 'readable');
    order.forgetName();
    order.write(orderText(ORDER));
    shell.stdin.end('\n');
    expect(await text(shell.stdout)).toBe("\x1e\x1eit's up\n");
  },
);

it('gets an order that is longer than what was reserved for it', async () => {
  const order = orderFile();
  const { file, parameters } = waitingShell(order.path, [], true);
  const shell = spawn(file, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(shell.stdout, 'readable');
  order.write(orderText({ ...ORDER, environment: { WORD: 'long'.repeat(20_000) } }));
  shell.stdin.end('\n');
  expect(await text(shell.stdout)).toBe(`\x1e\x1e${'long'.repeat(20_000)}\n`);
});

it('has an order without a name, and nothing is in it as long as it has one', () => {
  const order = orderFile();
  expect(existsSync(order.path)).toBe(true);
  order.forgetName();
  expect(existsSync(order.path)).toBe(false);
});

it('leaves no file of an owner that was killed before the name was gone', async () => {
  const [order, live] = [orderFile(), orderFile()];
  const gone = spawn('true');
  await once(gone, 'exit');
  const orphan = order.path.replace(`-${process.pid}-`, `-${gone.pid}-`);
  renameSync(order.path, orphan);
  removeOrphans();
  expect([existsSync(orphan), existsSync(live.path)]).toEqual([false, true]);
});

it('begins although the system printed a warning on its terminal first', async () => {
  const noisy = `exec 3<"$1"; printf 'warning\\036'; read -r line && . /proc/self/fd/3`;
  const terminal = PseudoTerminal.open({
    native: loadNativePty(),
    shell: (order) => ({ file: '/bin/sh', parameters: ['-c', noisy, 'sh', order] }),
    buffer: Buffer.alloc(4096),
  });
  onTestFinished(() => terminal.close());
  let output = '';
  const code = await new Promise((resolve) => {
    terminal.run({
      order: ORDER,
      onOutput: (bytes) => {
        output += Buffer.from(bytes).toString('latin1');
      },
      onReady: () => undefined,
      onExit: resolve,
    });
  });
  expect(code).toBe(0);
  expect(output).toMatch(/^warning\s+it's up\s+$/);
});
