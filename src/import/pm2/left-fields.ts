/** The fields of pm2 that Drover has no counterpart for, and what to do instead. */
import type { FieldNotes } from '../report.js';
import { membersOf } from '../values.js';
import type { Pm2App } from './app.js';

const LOG = 'Drover keeps the output by itself: drover instance logs ID';
const FAILING =
  'Drover restarts at once, then after 1 s, 2 s, 4 s, up to 60 s, and never gives up; after 60 s of being up it begins anew';
const READY = 'say in readiness when it is ready: a log line, a port, or an HTTP answer';
const OWN = "for pm2's own use";

const NOTES: Readonly<Record<string, string>> = {
  watch: 'nothing is restarted because files change: drover instance restart ID',
  ignore_watch: 'see watch',
  watch_delay: 'see watch',
  watch_options: 'see watch',
  cron_restart: 'let cron do it: drover instance restart ID',
  out_file: LOG,
  error_file: LOG,
  log_file: LOG,
  pid_file: 'drover instance list shows the pid',
  merge_logs: LOG,
  disable_logs: LOG,
  log_type: LOG,
  log_date_format: 'drover instance logs ID --timestamps',
  time: 'drover instance logs ID --timestamps',
  restart_delay: FAILING,
  exp_backoff_restart_delay: FAILING,
  max_restarts: FAILING,
  min_uptime: FAILING,
  wait_ready: READY,
  listen_timeout: READY,
  shutdown_with_message:
    'the program gets a signal (stopSignal), or a line on its standard input (stopCommand)',
  treekill: 'Drover always ends all processes of an instance',
  source_map_support: 'for source maps write node --enable-source-maps in the command',
  disable_source_map_support: 'Drover adds no source maps',
  filter_env: 'Drover passes on none of its own environment',
  instance_var: 'instances have an id: DROVER_INSTANCE_ID',
  append_env_to_name: 'give the configuration the name that you want',
  name_prefix: 'give the configuration the name that you want',
  post_update: 'Drover updates no checkouts',
  force: OWN,
  vizion: OWN,
  pmx: OWN,
  automation: OWN,
  trace: OWN,
  disable_trace: OWN,
  deep_monitoring: OWN,
  event_loop_inspector: OWN,
  v8: OWN,
  io: OWN,
  install_url: OWN,
  kill_retry_time: OWN,
  windowsHide: OWN,
  write: OWN,
  execute_command: OWN,
  username: OWN,
};

/** Fields that stand in every list of processes with pm2's defaults. */
const DEFAULTS: ReadonlySet<string> = new Set([
  'merge_logs',
  'vizion',
  'pmx',
  'automation',
  'treekill',
  'instance_var',
  'windowsHide',
  'kill_retry_time',
  'username',
]);

/** Fields that the mapping itself notes. */
const MAPPED: ReadonlySet<string> = new Set([
  'name',
  'script',
  'args',
  'interpreter',
  'interpreter_args',
  'cwd',
  'env',
  'port',
  'instances',
  'exec_mode',
  'increment_var',
  'max_memory_restart',
  'autorestart',
  'autostart',
  'stop_exit_codes',
  'kill_timeout',
  'uid',
  'gid',
  'namespace',
]);

export function noteLeftFields(app: Pm2App, notes: FieldNotes): void {
  const environment = app.kind === 'process' ? membersOf(app.fields.env) : undefined;
  for (const [field, value] of Object.entries(app.fields)) {
    if (MAPPED.has(field) || field.startsWith('env_')) continue;
    const note = Object.hasOwn(NOTES, field) ? NOTES[field] : undefined;
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
