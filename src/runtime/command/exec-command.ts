/**
 * Lets the program of a simple command line take the place of its shell, so that the instance's pid, signals and
 * exit code are the program's own. bash does this by itself; dash, Debian's /bin/sh, does not.
 */

/**
 * Text for which a shell must stay: lists, pipes, groups, substitutions, comments. Matched inside quotes too, to be
 * on the safe side.
 */
const NEEDS_SHELL = /[;&|(){}`#\n\r]|\$\(/;
const PARAMETER = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;
/** An ordinary program name or path as the first word: no assignment, no quoting, no expansion. */
const FIRST_WORD = /^\s*([A-Za-z0-9_./+-]+)(?=\s|$)/;

/** Words with a meaning for the shell that are, or may be, no programs. */
const SHELL_WORDS: ReadonlySet<string> = new Set(
  (
    '. : alias bg bind break builtin caller case cd command continue declare do done elif else esac eval exec exit ' +
    'export fc fg fi for function getopts hash if in jobs let local read readonly return select set shift shopt ' +
    'source suspend then time times trap type typeset ulimit umask unalias unset until wait while'
  ).split(' '),
);

/** Returns the command with `exec` before it where that changes nothing else; otherwise the command as it is. */
export function execSimple(command: string): string {
  const word = FIRST_WORD.exec(command)?.[1];
  if (word === undefined || SHELL_WORDS.has(word)) return command;
  return NEEDS_SHELL.test(command.replace(PARAMETER, '')) ? command : `exec ${command.trimStart()}`;
}
