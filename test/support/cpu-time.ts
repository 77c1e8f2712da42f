/** Processor time of work of this process. Other processes of a busy machine have no part in it. */

/** Returns the milliseconds of processor time that the work took. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
