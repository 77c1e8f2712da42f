/** The fields of pm2 that Drover has no counterpart for, and what to do instead. */
import type { FieldNotes } from '../report.js';
import { keysByWord, membersOf } from '../values.js';
import type { Pm2App } from './app.js';

/** The notes; each has the names of its fields, with spaces between. */
const FIELDS: Readonly<Record<string, string>> = {
  'nothing is restarted because files change: drover instance restart ID': 'watch',
  'see watch': 'ignore_watch watch_delay watch_options',
  'let cron do it: drover instance restart ID': 'cron_restart',
  'Drover keeps the output by itself: drover instance logs ID':
    'out_file error_file log_file merge_logs disable_logs log_type',
  'drover instance list shows the pid': 'pid_file',
  'drover instance logs ID --timestamps': 'log_date_format time',
  'Drover restarts at once, then after 1 s, 2 s, 4 s, up to 60 s, and never gives up; after 60 s of being up it begins anew':
    'restart_delay exp_backoff_restart_delay max_restarts min_uptime',
  'say in readiness when it is ready: a log line, a port, or an HTTP answer': 'wait_ready listen_timeout',
  'the program gets a signal (stopSignal), or a line on its standard input (stopCommand)':
    'shutdown_with_message',
  'Drover always ends all processes of an instance': 'treekill',
  'for source maps write node --enable-source-maps in the command': 'source_map_support',
  'Drover adds no source maps': 'disable_source_map_support',
  'Drover passes on none of its own environment': 'filter_env',
  'Drover reads no such file: write its variables into environmentVariables': 'env_file',
  'instances have an id: DROVER_INSTANCE_ID': 'instance_var',
  'give the configuration the name that you want': 'append_env_to_name name_prefix',
  'Drover updates no checkouts': 'post_update',
  "for pm2's own use":
    'force vizion pmx automation trace disable_trace deep_monitoring event_loop_inspector v8 io install_url kill_retry_time windowsHide write execute_command username',
};
const NOTES = keysByWord(FIELDS);

/** Fields that every list of processes has, with pm2's defaults. */
const DEFAULTS: ReadonlySet<string> = new Set(
  'merge_logs vizion pmx automation treekill instance_var windowsHide kill_retry_time username'.split(' '),
);

/** Fields that the mapping itself notes. */
const MAPPED: ReadonlySet<string> = new Set([
  ...'name script args interpreter interpreter_args cwd env port instances exec_mode'.split(' '),
  ...'increment_var max_memory_restart autorestart autostart stop_exit_codes kill_timeout'.split(' '),
  ...'uid gid namespace'.split(' '),
]);

export function noteLeftFields(app: Pm2App, notes: FieldNotes): void {
  const environment = app.kind === 'process' ? membersOf(app.fields.env) : undefined;
  for (const [field, value] of Object.entries(app.fields)) {
    if (MAPPED.has(field) || (field.startsWith('env_') && !NOTES.has(field))) continue;
    const note = NOTES.get(field);
    // Every other field in the list of processes is a variable of the shell, or a figure that pm2 keeps.
    const isVariable = environment !== undefined && Object.hasOwn(environment, field);
    const isPlain = note === undefined || DEFAULTS.has(field) || isNothing(value);
    const isNoise = app.kind === 'process' && (isVariable || isPlain);
    if (!isNoise) notes.left(app.nameOf(field), note ?? 'Drover knows no such field');
  }
}

function isNothing(value: unknown): boolean {
  return value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
}
