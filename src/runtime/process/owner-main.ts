/**
 * Entry of the owner process, started detached by owner-launch.ts: takes the root's seat, says so in one line on
 * standard output, serves daemons, and leaves when it holds nothing. Keep the imports few: this process stays in
 * memory as long as anything runs.
 */
import { parseArgs } from 'node:util';
import { publicMessage } from '../../model/public-message.js';
import { loadNativePty } from './native-pty.js';
import { Owner } from './owner.js';
import { type Seat, takeSeat } from './owner-seat.js';

/** How long it waits for its first daemon. */
const GRACE_MS = 5000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { root: { type: 'string' }, socket: { type: 'string' }, lock: { type: 'string' } },
  });
  const { root, socket, lock } = values;
  if (root === undefined || socket === undefined || lock === undefined)
    throw new Error('--root, --socket and --lock are needed; Drover starts this program itself');
  process.title = `drover owner ${root}`;
  ignoreFaults();

  let seat: Seat | undefined;
  let isGraceOver = false;
  const leave = (): void => {
    seat?.leave();
    process.exit(0);
  };
  const owner = new Owner({ rootId: root, native: loadNativePty(), onIdle: () => isGraceOver && leave() });
  seat = await takeSeat(lock, socket, (connection) => {
    // From here on the daemon itself keeps it alive.
    isGraceOver = true;
    owner.accept(connection);
  });
  process.stdout.write(seat === undefined ? 'taken\n' : 'ready\n');
  if (seat === undefined) process.exit(0);
  process.on('SIGTERM', leave);
  setTimeout(() => {
    isGraceOver = true;
    if (owner.isIdle) leave();
  }, GRACE_MS);
}

/** Its death would end every instance of the root, so one broken connection or terminal must not be that. */
function ignoreFaults(): void {
  process.on('SIGHUP', () => undefined);
  process.on('uncaughtException', (error) => process.stderr.write(`${error.stack ?? error}\n`));
  process.on('unhandledRejection', (error) => process.stderr.write(`${error}\n`));
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.stdout.write(`failed ${publicMessage(error)}\n`);
  process.exit(1);
});
