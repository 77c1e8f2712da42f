/**
 * Lets the program of a simple command line take the place of its shell, so that the instance's pid, signals and
 * exit code are the program's own. bash does this by itself; dash, Debian's /bin/sh, does not.
 */
import { ShellScanner } from './shell-scanner.js';

/** Characters that need a shell: lists, pipes, groups, substitutions. */
const NEEDS_SHELL = /[;&|()`\n\r]/;
const PARAMETER = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;
/**
 * Assignments before the program, of plain text and Drover's own variables: `exec` passes them to the program as well.
 * PATH and IFS are excluded, because they would also change how the shell finds the program.
 */
const ASSIGNMENTS =
  /^\s*(?:(?!PATH=|IFS=)[A-Za-z_][A-Za-z0-9_]*=(?:[A-Za-z0-9_./:,@%+-]|"\$\{DROVER_VAR_[0-9]+\}")*[ \t]+)*/;
/** A plain program name or path as the next word, perhaps in quotes, without an expansion. */
const PROGRAM = /^(["']?)([A-Za-z0-9_./+-]+|(?<=["'])[A-Za-z0-9_./+ -]+)\1(?=\s|$)/;

/** Keywords and built-ins of shells. A shell handles them itself, and not all of them exist as programs. */
const SHELL_WORDS: ReadonlySet<string> = new Set(
  (
    '. : alias bg bind break builtin caller case cd command continue declare do done elif else esac eval exec exit ' +
    'export fc fg fi for function getopts hash if in jobs let local read readonly return select set shift shopt ' +
    'source suspend then time times trap type typeset ulimit umask unalias unset until wait while'
  ).split(' '),
);

/**
 * Returns the command with `exec` before its program where that changes nothing else; otherwise the command unchanged.
 * `via`: words between `exec` and the program.
 */
export function execSimple(command: string, via = ''): string {
  const [assignments = ''] = ASSIGNMENTS.exec(command) ?? [];
  const rest = command.slice(assignments.length);
  const word = PROGRAM.exec(rest)?.[2];
  if (word === undefined || SHELL_WORDS.has(word) || needsShell(rest)) return command;
  return `${assignments.trimStart()}exec ${via}${rest}`;
}

/**
 * True when only a shell can run the command: it has a list, a pipe, a group, a substitution, a comment or an open
 * quote.
 */
function needsShell(command: string): boolean {
  const text = command.trimEnd().replace(PARAMETER, 'x');
  const scanner = new ShellScanner(text);
  for (let at = 0; at < text.length; at++) {
    const { context, isEscaped, isAfterDollar } = scanner.advanceTo(at);
    const char = text.charAt(at);
    if (context !== 'unquoted' && context !== 'double' && context !== 'single') return true;
    if (isEscaped || context === 'single') continue;
    if (char === '`') return true;
    if (context === 'double') continue;
    // $'...' and $"..." mean different things in different shells.
    if (isAfterDollar && (char === "'" || char === '"')) return true;
    if (NEEDS_SHELL.test(char) && !isDuplication(text, at)) return true;
  }
  const { context, isEscaped } = scanner.advanceTo(text.length);
  return context !== 'unquoted' || isEscaped;
}

/** True when the `&` at `at` is part of a redirection such as `2>&1`. */
function isDuplication(text: string, at: number): boolean {
  return /[<>]&[0-9-]/.test(text.slice(at - 1, at + 2));
}
