/**
 * Locks an open file for its process. The lock is the kernel's (flock): it ends when the process ends in any way, and
 * also holds between containers and machines that share the file.
 */
import { spawn } from 'node:child_process';
import { isMissing } from './system-error.js';

/**
 * Locks the open file. False: another process holds the lock, and still held it after `waitMs`. Node.js has no call for
 * it, so the program `flock` locks a descriptor that it inherits. The lock belongs to the open file and stays when that
 * program ends. No other child inherits the descriptor, because Node.js opens files close-on-exec. Throws an error
 * whose message says why the file cannot be locked, or a system error.
 */
export function lockOpenFile(file: number, waitMs = 0): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', waitMs > 0 ? ['3'] : ['-n', '3'], {
      stdio: ['ignore', 'ignore', 'pipe', file],
      timeout: waitMs,
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', (error) => {
      reject(isMissing(error) ? new Error('the program flock is missing; install util-linux') : error);
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve(true);
      else if (child.killed) resolve(false);
      else if (code === 1 && said === '') resolve(false);
      else reject(new Error(said.trim() || `flock ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}
