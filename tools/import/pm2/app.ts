/**
 * Reads an app of pm2 and gives each field one name. An app comes from an ecosystem file, or from the list of
 * processes that `pm2 save` and `pm2 jlist` write. Pure.
 */
import type { Content } from '../draft.js';
import { keysByWord, membersOf } from '../values.js';

export interface Pm2App {
  /**
   * `process`: an entry of the list of processes. It describes one process, and mixes pm2's own fields with the
   * variables of a shell.
   */
  readonly kind: 'app' | 'process';
  /** The place in the file, such as `apps[0]`. */
  readonly from: string;
  /** The values by the names that ALIASES and PROCESS_ALIASES give to the fields. */
  readonly fields: Content;
  /** The name that the file uses for this field. */
  nameOf(field: string): string;
}

/** The other names that pm2 takes for a field. */
const ALIASES = keysByWord({
  script: 'exec cmd command',
  interpreter: 'exec_interpreter',
  interpreter_args: 'node_args interpreterArgs',
  cron_restart: 'cron',
  uid: 'user',
  out_file: 'out output out_log',
  error_file: 'error err err_file err_log',
  log_file: 'log',
  pid_file: 'pid',
  merge_logs: 'combine_logs',
});

/** The other names in a list of processes. Names such as `log` are variables of a shell there. */
const PROCESS_ALIASES = keysByWord({
  script: 'pm_exec_path',
  cwd: 'pm_cwd',
  interpreter: 'exec_interpreter',
  interpreter_args: 'node_args',
});

/** The app in this value; undefined: the value is not an object. */
export function appOf(value: unknown, from: string): Pm2App | undefined {
  const members = membersOf(value);
  if (members === undefined) return undefined;
  // `pm2 jlist` puts the fields one level deeper than `pm2 save`.
  const raw = membersOf(members.pm2_env) ?? members;
  const kind = 'pm_exec_path' in raw ? 'process' : 'app';
  const aliases = kind === 'process' ? PROCESS_ALIASES : ALIASES;
  const names = new Map<string, string>();
  const fields: [string, unknown][] = [];
  for (const [name, fieldValue] of Object.entries(raw)) {
    const field = aliases.get(name) ?? name;
    // When the file has both names, pm2 looks at the plain name first.
    if (field !== name && field in raw) continue;
    names.set(field, name);
    fields.push([field, fieldValue]);
  }
  return { kind, from, fields: Object.fromEntries(fields), nameOf: (field) => names.get(field) ?? field };
}
