/**
 * Reads an app of pm2 and gives each field one name. An app comes from an ecosystem file, or from the list of
 * processes that `pm2 save` and `pm2 jlist` write. Pure.
 */
import type { Content } from '../draft.js';
import { membersOf } from '../values.js';

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
const ALIASES: Readonly<Record<string, string>> = {
  exec: 'script',
  cmd: 'script',
  command: 'script',
  exec_interpreter: 'interpreter',
  node_args: 'interpreter_args',
  interpreterArgs: 'interpreter_args',
  cron: 'cron_restart',
  user: 'uid',
  out: 'out_file',
  output: 'out_file',
  out_log: 'out_file',
  error: 'error_file',
  err: 'error_file',
  err_file: 'error_file',
  err_log: 'error_file',
  log: 'log_file',
  pid: 'pid_file',
  combine_logs: 'merge_logs',
};

/** The other names in a list of processes. Names such as `log` are variables of a shell there. */
const PROCESS_ALIASES: Readonly<Record<string, string>> = {
  pm_exec_path: 'script',
  pm_cwd: 'cwd',
  exec_interpreter: 'interpreter',
  node_args: 'interpreter_args',
};

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
    const field = (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;
    // When the file has both names, pm2 looks at the plain name first.
    if (field !== name && field in raw) continue;
    names.set(field, name);
    fields.push([field, fieldValue]);
  }
  return { kind, from, fields: Object.fromEntries(fields), nameOf: (field) => names.get(field) ?? field };
}
