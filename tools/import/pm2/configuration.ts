/** Maps an app or process of pm2 to a configuration of Drover, without the number of instances. Pure. */
import type { Content } from '../draft.js';
import { FieldNotes } from '../report.js';
import { listOf, toName } from '../values.js';
import type { Pm2App } from './app.js';
import { type CommandFacts, commandOf } from './command.js';
import { environmentOf } from './environment.js';
import { noteLeftFields } from './left-fields.js';

export interface Pm2Facts extends CommandFacts {
  /** The processor cores of this machine. */
  readonly cores: number;
  /** `name` selects the `env_<name>` block that overrides `env`. */
  readonly environment: string | undefined;
}

export interface MappedApp {
  readonly from: string;
  readonly name: string;
  /** The fields of the configuration, without name, count and ports. */
  readonly content: Content;
  readonly count: number;
  readonly port: number | undefined;
  readonly notes: FieldNotes;
}

interface Work {
  readonly app: Pm2App;
  readonly notes: FieldNotes;
}

const MEMORY = /^(\d+)([KMG]?)B?$/i;
const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const MB = 1024 ** 2;

/** The mapped app; a text says why it cannot be mapped. */
export function mapApp(app: Pm2App, facts: Pm2Facts): MappedApp | string {
  const notes = new FieldNotes();
  const work = { app, notes };
  const name = nameOf(work);
  if (name === undefined) return 'it has no name that can stay, and no script: give it a name';
  const line = commandOf(app, facts, notes);
  if (line === undefined) return 'script is missing: it says what runs';
  const { variables, port } = environmentOf(app, facts.environment, notes);
  const count = countOf(work, facts.cores, line.isNode, port);
  const content: Content = {
    runtime: 'process',
    command: line.command,
    cpu: 0,
    ...memoryOf(work),
    ...restartsOf(work),
    ...stoppingOf(work),
    ...userOf(work),
    ...groupOf(work),
    environmentVariables: variables,
  };
  notes.added('runtime, cpu', '"process" needs no screen; 0: pm2 limits no processor');
  notes.added('stopSignal', 'SIGINT, as pm2 sends it');
  noteLeftFields(app, notes);
  return { from: app.from, name, content, count, port, notes };
}

function nameOf({ app, notes }: Work): string | undefined {
  const { name, script } = app.fields;
  const said = typeof name === 'string' || typeof name === 'number' ? String(name) : undefined;
  // Only the program's name: the arguments of a command line may hold secrets.
  const [program = ''] = typeof script === 'string' ? script.split(' ') : [];
  const base = program.split('/').at(-1) ?? '';
  const wanted = toName(said ?? base.replace(/\.[^.]*$/, ''));
  if (wanted === undefined) return undefined;
  if (said === undefined) notes.added('name', `${wanted}, from the script`);
  else if (said === wanted) notes.taken('name');
  else notes.changed('name', `${JSON.stringify(said)} is ${wanted}: names have no other characters`);
  return wanted;
}

function countOf({ app, notes }: Work, cores: number, isNode: boolean, port: number | undefined): number {
  const { instances, exec_mode: mode, autostart, status, increment_var: increment } = app.fields;
  const isOff =
    autostart === false || (app.kind === 'process' && (status === 'stopped' || status === 'errored'));
  const count = app.kind === 'process' ? 1 : instanceCount(instances, cores, notes);
  const isCluster =
    typeof mode === 'string'
      ? mode.startsWith('cluster')
      : isNode && app.kind === 'app' && instances !== undefined;
  if (isCluster)
    notes.changed(
      'exec_mode',
      'in a cluster of pm2 all processes share one port; Drover runs separate ones, each with a port of its own in PORT: put a proxy before them',
    );
  else if (mode !== undefined) notes.taken('exec_mode');
  if (isCluster && port === undefined && (count > 1 || app.kind === 'process'))
    notes.changed('env', 'it has no PORT: add availablePorts, and let the program listen on PORT');
  if (increment === 'PORT')
    notes.changed('increment_var', 'availablePorts: each instance has a port of its own');
  else if (increment !== undefined) notes.left('increment_var', 'only PORT differs between instances');
  if (!isOff) return count;
  notes.changed(autostart === false ? 'autostart' : 'status', 'it does not run: minimumServiceCount is 0');
  return 0;
}

function instanceCount(instances: unknown, cores: number, notes: FieldNotes): number {
  if (instances === undefined) return 1;
  const number = instances === 'max' ? 0 : Number(instances);
  if (!Number.isInteger(number)) {
    notes.left('instances', 'it is no whole number: 1');
    return 1;
  }
  if (number > 0) {
    notes.taken('instances');
    return number;
  }
  const count = Math.max(1, cores + number);
  notes.changed('instances', `${count}, by the cores of this machine`);
  return count;
}

function memoryOf({ app, notes }: Work): Content {
  const { max_memory_restart: limit } = app.fields;
  const [, digits, unit = ''] = MEMORY.exec(String(limit ?? '')) ?? [];
  if (digits === undefined) {
    if (limit !== undefined) notes.left('max_memory_restart', 'it is no amount of memory');
    notes.added(
      'ramMB',
      "2048, Drover's default: it is reserved for each instance, and the most that it may use; say what the app needs",
    );
    return { ramMB: 2048 };
  }
  const ramMB = Math.max(1, Math.ceil((Number(digits) * (UNIT_BYTES[unit.toUpperCase()] ?? 1)) / MB));
  notes.changed(
    'max_memory_restart',
    `ramMB ${ramMB}: reserved for each instance, and the most that it may use; the system ends one that wants more, and Drover restarts it`,
  );
  return { ramMB };
}

function restartsOf({ app, notes }: Work): Content {
  const { autorestart, stop_exit_codes: codes } = app.fields;
  if (autorestart === false) {
    notes.changed('autorestart', 'restartPolicy never');
    return { restartPolicy: 'never' };
  }
  if (autorestart !== undefined) notes.taken('autorestart');
  const list = (listOf(codes) ?? [codes]).filter((code) => code !== undefined).map(Number);
  if (list.length === 0) return {};
  if (!list.includes(0)) {
    notes.left('stop_exit_codes', 'only exit code 0 can end an instance for good: restartPolicy on-failure');
    return {};
  }
  notes.changed('stop_exit_codes', 'restartPolicy on-failure: not restarted after exit code 0');
  return { restartPolicy: 'on-failure' };
}

function stoppingOf({ app, notes }: Work): Content {
  const { kill_timeout: timeout } = app.fields;
  const seconds = Math.ceil(Number(timeout) / 1000);
  if (timeout === undefined || !Number.isInteger(seconds)) return { stopSignal: 'SIGINT' };
  notes.changed('kill_timeout', `stopTimeoutSeconds ${seconds}`);
  return { stopSignal: 'SIGINT', stopTimeoutSeconds: seconds };
}

function userOf({ app, notes }: Work): Content {
  const { uid, gid } = app.fields;
  if (uid === undefined) {
    if (gid !== undefined) notes.left('gid', 'it needs a user: runAs');
    return {};
  }
  const user = String(uid);
  const isNumber = /^\d+$/.test(user);
  if (isNumber && !/^\d+$/.test(String(gid ?? ''))) {
    notes.left('uid', 'a number needs a group beside it: runAs "uid:gid" in numbers');
    return {};
  }
  if (!isNumber && gid !== undefined) notes.left('gid', `the groups are those of ${user}`);
  const runAs = isNumber ? `${user}:${String(gid)}` : user;
  notes.changed(isNumber ? 'uid, gid' : 'uid', `runAs ${runAs}: Drover must run as root there`);
  return { runAs };
}

function groupOf({ app, notes }: Work): Content {
  const { namespace } = app.fields;
  if (typeof namespace !== 'string' || namespace === 'default') return {};
  const group = toName(namespace);
  if (group === undefined) notes.left('namespace', 'nothing of it can be a name');
  else notes.changed('namespace', `instanceGroups has ${group}`);
  return group === undefined ? {} : { instanceGroups: [group] };
}
