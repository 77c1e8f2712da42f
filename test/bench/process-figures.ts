/** What processes cost, from /proc. */
import { readdir, readFile } from 'node:fs/promises';

/** Clock ticks of /proc/<pid>/stat per second; the same on every Linux that Node runs on. */
export const TICKS_PER_SECOND = 100;

/** The instance's parent is the owner. */
export async function ownerOf(pid: number): Promise<number> {
  return Number(statFields(await readFile(`/proc/${pid}/stat`, 'utf8'))[1]);
}

export async function cpuTicks(pid: number): Promise<number> {
  const fields = statFields(await readFile(`/proc/${pid}/stat`, 'utf8'));
  return Number(fields[11]) + Number(fields[12]);
}

/** Of all together. */
export async function ticksOf(pids: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const pid of pids) ticks += await cpuTicks(pid);
  return ticks;
}

/** Fields from the third (state) on: the second may hold spaces. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

export function residentMB(pid: number): Promise<number> {
  return memoryMB(pid, 'VmRSS');
}

/** The most that was resident since the process began, or since `clear_refs` was written. */
export function peakMB(pid: number): Promise<number> {
  return memoryMB(pid, 'VmHWM');
}

/** NaN: the process is gone. */
async function memoryMB(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  if (!(await readdir('/proc')).includes(String(pid))) return Number.NaN;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}

/** Milliseconds that all threads of a process have run, to the microsecond. */
export async function cpuMs(pid: number): Promise<number> {
  let ns = 0;
  for (const thread of await readdir(`/proc/${pid}/task`))
    ns += Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ', 1)[0]);
  return ns / 1e6;
}
