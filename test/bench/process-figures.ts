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

/** Fields from the third (state) on: the second may hold spaces. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

export async function residentMB(pid: number): Promise<number> {
  if (!(await readdir('/proc')).includes(String(pid))) return Number.NaN;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
