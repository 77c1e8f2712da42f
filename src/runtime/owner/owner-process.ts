/**
 * What every detached process that holds runs does, whatever the runs are: takes its seat, says so in one line on
 * standard output, serves daemons, and leaves when it holds nothing. Keep the imports few: such a process stays in
 * memory as long as anything runs.
 */
import type { Socket } from 'node:net';
import { publicMessage } from '../../model/public-message.js';
import type { RunSource } from './held-run.js';
import { Owner } from './owner.js';
import { type Seat, takeSeat } from './owner-seat.js';

/** How long it waits for its first daemon. */
const GRACE_MS = 5000;

export interface OwnerProcessOptions {
  readonly rootId: string;
  readonly socketPath: string;
  readonly lockName: string;
  readonly source: RunSource;
  /** Takes up what an earlier process left, once the seat is this one's and before a daemon is heard. */
  readonly takeUp?: (owner: Owner) => Promise<void>;
}

/** Runs the process; ends it when it has nothing to do. `prepare` may throw: the launcher is told why. */
export async function runOwnerProcess(prepare: () => OwnerProcessOptions): Promise<void> {
  ignoreFaults();
  try {
    await serve(prepare());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.stdout.write(`failed ${publicMessage(error)}\n`);
    process.exit(1);
  }
}

async function serve(options: OwnerProcessOptions): Promise<void> {
  const { rootId, source, takeUp, lockName, socketPath } = options;
  let seat: Seat | undefined;
  let isGraceOver = false;
  const leave = (): void => {
    seat?.leave();
    process.exit(0);
  };
  const owner = new Owner({ rootId, source, onIdle: () => isGraceOver && leave() });
  let early: Socket[] | undefined = [];
  const accept = (connection: Socket): void => {
    // From here on the daemon itself keeps it alive.
    isGraceOver = true;
    owner.accept(connection);
  };
  seat = await takeSeat(lockName, socketPath, (connection) => {
    if (early === undefined) accept(connection);
    else early.push(connection.on('error', () => undefined));
  });
  if (seat !== undefined) await takeUp?.(owner);
  process.stdout.write(seat === undefined ? 'taken\n' : 'ready\n');
  if (seat === undefined) process.exit(0);
  for (const connection of early) accept(connection);
  early = undefined;
  process.on('SIGTERM', leave);
  setTimeout(() => {
    isGraceOver = true;
    if (owner.isIdle) leave();
  }, GRACE_MS);
}

/** Its death would end or blind what it holds, so one broken connection or terminal must not be that. */
function ignoreFaults(): void {
  process.on('SIGHUP', () => undefined);
  process.on('uncaughtException', (error) => process.stderr.write(`${error.stack ?? error}\n`));
  process.on('unhandledRejection', (error) => process.stderr.write(`${error}\n`));
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
