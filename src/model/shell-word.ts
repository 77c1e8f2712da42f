/**
 * Returns `text` as one word of a POSIX shell, for commands that an operator copies. Quoted only where a shell
 * needs it.
 */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
