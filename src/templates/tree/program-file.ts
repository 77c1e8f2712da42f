/** Recognizes programs among files that came without modes: by the API, from S3, in a zip of Windows. */
import type { FileHandle } from 'node:fs/promises';

const SCRIPT = Buffer.from('#!');
const ELF = Buffer.from('\x7fELF', 'latin1');

/** True for a file that begins as a script or a program of Linux does. The file must be open for reading. */
export async function looksLikeProgram(file: FileHandle): Promise<boolean> {
  const start = Buffer.alloc(ELF.length);
  const { bytesRead } = await file.read(start, 0, start.length, 0);
  return start.subarray(0, bytesRead).equals(ELF) || (bytesRead > 1 && start.subarray(0, 2).equals(SCRIPT));
}
