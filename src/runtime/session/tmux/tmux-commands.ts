/**
 * The commands for tmux in its own configuration language: how a session starts, how bytes reach its program, how it
 * ends. Pure; every value is written so that tmux takes it literally.
 */
import { basename } from 'node:path';
import type { SessionRun, SessionStart } from '../session-tool.js';

/**
 * The least size of the program's terminal, so that nothing wraps its lines. An operator's small window does not change
 * it.
 */
const COLUMNS = 512;
const ROWS = 50;
const SPOOL_FILE_BYTES = '2M';
/** The file in which tmux saves the exit status; it becomes `died` (see session-tool.ts) when the spool is complete. */
export const STATUS_FILE = 'tmux.status';

/**
 * The last lines of the session's shell. After the shell's end, tmux closes the terminal as soon as a read finds
 * nothing, though the kernel may hold more output. So the shell first only closes its side of the terminal, which
 * tmux notices. It ends when tmux has read everything and hangs up, or after 5 s when a surviving process holds the
 * terminal. (The shell also waits for libutempter, which tmux calls in between and which swallows the signal of an
 * exit.)
 */
export const BEFORE_END = `trap 'kill $! 2>/dev/null; exit 0' HUP
exec </dev/null >/dev/null 2>&1 3>&-
PATH=/usr/bin:/bin sleep 5 &
wait $!
`;

/** The characters that mean nothing to tmux inside double quotes. */
const PLAIN = /^[A-Za-z0-9_/.,:=@ -]$/;

/** `text` as one literal word of tmux's language. */
function quote(text: string): string {
  let quoted = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    quoted += PLAIN.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `"${quoted}"`;
}

/**
 * The settings of the server that all sessions share. With exit-empty off, the server lives until its first session
 * comes; startCommands then lets it end with its last session.
 */
export const SERVER_SETTINGS = `set-option -s exit-empty off
set-option -s set-clipboard off
set-option -s message-limit 0
set-option -g default-terminal xterm-256color
set-option -g history-limit 200
set-option -g status off
set-option -g automatic-rename off
set-option -g update-environment ""
set-environment -gu HOME
set-environment -gu PATH
set-environment -gu LC_ALL
# Up to 3.3 tmux itself ends when something is pasted to a pane that is dead.
unbind-key =
bind-key ] if-shell -F "#{pane_dead}" "" "paste-buffer -p"
`;

/**
 * Starts a session and prints `<pane> <server's pid>`. tmux runs all commands in one turn: the pipe exists before the
 * first output is read, and the hook before an exit can be seen. The commands stand on one line, because tmux skips
 * the rest of a line after a failed command. So when the name is taken, the pane that has the name stays as it is. A
 * pane keeps the run's name, even when an operator renames the session.
 */
export function startCommands(start: SessionStart): string {
  const pane = quote(`=${start.name}:`);
  const environment = Object.entries(start.environment).map(
    ([name, value]) => `-e ${quote(`${name}=${value}`)}`,
  );
  // Escape `#` in the directory, the only value in which tmux expands formats.
  const directory = quote(start.workingDirectory.replaceAll('#', '##'));
  const command = [start.file, ...start.parameters].map(quote).join(' ');
  return [
    `new-session -d -s ${quote(start.name)} -x ${COLUMNS} -y ${ROWS} ${environment.join(' ')} -c ${directory} -- ${command}`,
    `set-option -p -t ${pane} @run ${quote(start.name)}`,
    `set-option -p -t ${pane} remain-on-exit on`,
    `set-hook -p -t ${pane} pane-died ${quote(`run-shell -bC ${quote(endCommands(start))}`)}`,
    // Set it per window: as a global option it makes tmux 3.3 fail at the next session.
    `set-option -w -t ${pane} window-size manual`,
    `pipe-pane -O -t ${pane} ${quote(spoolCommand(start))}`,
    'set-option -s exit-empty on',
    `display-message -p -t ${pane} "#{pane_id} #{pid}"`,
  ].join(' ; ');
}

/**
 * The hook for a pane's death: saves the status into a file, and then kills the pane, which ends the pipe. tmux calls a
 * pane dead when all its output is in the pipe. The hook runs in the background (-b): while it waits, tmux would forget
 * the hooks of panes that die meanwhile.
 */
function endCommands({ name, directory }: SessionStart): string {
  const buffer = quote(`died.${name}`);
  return [
    `set-buffer -b ${buffer} "#{pane_dead_status} #{pane_dead_signal}"`,
    `save-buffer -b ${buffer} ${quote(`${basename(directory)}/${STATUS_FILE}`)}`,
    `delete-buffer -b ${buffer}`,
    'kill-pane -t "#{pane_id}"',
  ].join(' ; ');
}

/**
 * The shell script that reads a pane's output. `~` is the server's HOME, the directory of all runs (see
 * tmux-server.ts). On a full disk `split` ends: the output of the following second is lost, and a new `split` goes on
 * with a new file.
 */
function spoolCommand({ directory }: SessionRun): string {
  const split = `split -b ${SPOOL_FILE_BYTES} -a $((n > 999999 ? 7 : 6)) --numeric-suffixes=$n - spool.`;
  const next = '[ -e "$last" ] && n=$((1${last#spool.} + 1 - 1000000))';
  const goOn = `timeout 1 cat >/dev/null && break; for last in spool.*; do :; done; ${next}`;
  const mark = `mv ${STATUS_FILE} died || : >died`;
  const script = `cd ~/${basename(directory)} || exit; n=0; until ${split}; do ${goOn}; done; ${mark}`;
  // Escape `#` and `%`, which tmux expands here.
  return script.replaceAll('#', '##').replaceAll('%', '%%');
}

/**
 * Parameters of a tmux client that pastes its standard input into a pane, byte by byte. It prints `gone` when the pane
 * belongs to another run by now, or when the program is dead.
 */
export function pasteParameters(name: string, pane: string): string[] {
  const buffer = `in.${name}`;
  return [
    ...['load-buffer', '-b', buffer, '-', ';'],
    ...['if-shell', '-F', '-t', pane, `#{&&:${isRun(name)},#{==:#{pane_dead},0}}`],
    `paste-buffer -r -d -b ${buffer} -t ${pane}`,
    `delete-buffer -b ${buffer} ; display-message -p gone`,
  ];
}

/** Parameters of a tmux client that makes a pane's output go to the first spool file again. */
export function pipeParameters(run: SessionRun, pane: string): string[] {
  return ['pipe-pane', '-O', '-t', pane, spoolCommand(run)];
}

/** Parameters of a tmux client that shows a pane read-only. */
export function viewParameters(pane: string): string[] {
  return ['attach-session', '-r', '-t', pane];
}

/** Parameters of a tmux client that kills a run's pane, but no later pane with the same number. */
export function killParameters(name: string, pane: string): string[] {
  return ['if-shell', '-F', '-t', pane, isRun(name), `kill-pane -t ${pane}`];
}

/** Parameters of a tmux client that prints `<run's name> <pane> <server's pid>` for every pane of ours. */
export const LIST_PARAMETERS: readonly string[] = ['list-panes', '-a', '-F', '#{@run} #{pane_id} #{pid}'];

function isRun(name: string): string {
  return `#{==:#{@run},${name}}`;
}
