/** Measures the processor time of work in this process, so that other processes of a busy machine do not count. */

/** Returns the milliseconds of processor time that the work took. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
