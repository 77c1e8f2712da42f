/** Gives `work` something open, such as a file or directory, and closes it afterwards, also after a failure. */
export async function whileOpen<Opened extends { close(): Promise<void> }, Result>(
  opening: Opened | Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await opening;
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}
