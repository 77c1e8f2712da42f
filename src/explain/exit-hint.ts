/** Hints for the exit codes by which a shell says that it could not run its program. */
const HINTS: ReadonlyMap<number | null, string> = new Map([
  [
    126,
    'Code 126 means that the shell may not run the file: make it executable (chmod +x, in its template), or write "sh FILE" in command. ',
  ],
  [
    127,
    'Code 127 means that the shell found no such program: install it or write its path. For a script, look at its first line: line ends of Windows (CRLF) there end so, too. ',
  ],
]);

/** The hint for a run's exit, before other advice; empty: there is none. */
export function exitHint(exit: { readonly code: number | null } | undefined): string {
  return HINTS.get(exit?.code ?? null) ?? '';
}
