/**
 * The life of every owner, whatever its runs are: takes its seat, says so in one line on standard output, serves
 * daemons, and exits when it holds no runs. Keep the imports few: an owner stays in memory as long as an instance runs.
 */
import type { Socket } from 'node:net';
import { publicMessage } from '../../model/public-message.js';
import type { RunSource } from './held-run.js';
import { Owner } from './owner.js';
import { type Seat, takeSeat } from './owner-seat.js';

/** How long an owner waits for its first daemon. */
const GRACE_MS = 5000;

interface OwnerProcessOptions {
  readonly rootId: string;
  readonly socketPath: string;
  readonly lockName: string;
  readonly source: RunSource;
  /** Takes over the runs of an earlier owner, after the seat is taken and before a daemon is served. */
  readonly takeUp?: (owner: Owner) => Promise<void>;
}

/** Runs the process until it has nothing to hold. The launcher gets the message of an error that `prepare` throws. */
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
  const owner = new Owner(rootId, source, () => isGraceOver && leave());
  let early: Socket[] | undefined = [];
  const accept = (connection: Socket): void => {
    // From here on the server keeps the process alive, until it is idle.
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

/**
 * Survives every fault, because the owner's death would end its runs or lose their output. A broken connection or
 * terminal must not cause it.
 */
function ignoreFaults(): void {
  process.on('SIGHUP', () => undefined);
  process.on('uncaughtException', (error) => process.stderr.write(`${error.stack ?? error}\n`));
  process.on('unhandledRejection', (error) => process.stderr.write(`${error}\n`));
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
