/** pm2 on a private home, as the baseline for starts and restarts. It runs in this process's child daemon. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Pm2 {
  connect(done: (error: unknown) => void): void;
  start(options: object, done: (error: unknown) => void): void;
  delete(name: string, done: (error: unknown) => void): void;
  killDaemon(done: (error: unknown) => void): void;
  disconnect(): void;
}

interface StartedPm2 {
  start(options: object): Promise<void>;
  delete(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startPm2(): Promise<StartedPm2> {
  const home = await mkdtemp(join(tmpdir(), 'drover-bench-pm2-'));
  // pm2 reads it when it is loaded, and never again.
  process.env.PM2_HOME = home;
  const pm2 = createRequire(import.meta.url)('pm2') as Pm2;
  await promisify(pm2.connect.bind(pm2))();
  const daemon = Number(readFileSync(join(home, 'pm2.pid'), 'utf8'));
  const onExit = (): void => void process.kill(daemon, 'SIGTERM');
  process.once('exit', onExit);
  return {
    start: promisify(pm2.start.bind(pm2)) as (options: object) => Promise<void>,
    delete: promisify(pm2.delete.bind(pm2)) as (name: string) => Promise<void>,
    stop: async () => {
      process.off('exit', onExit);
      await promisify(pm2.killDaemon.bind(pm2))();
      pm2.disconnect();
      await rm(home, { recursive: true, force: true });
    },
  };
}
