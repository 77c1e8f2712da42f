/** The environment of an app of pm2, and the port in it. Pure. Notes never repeat a value, which may be a secret. */
import type { Content } from '../draft.js';
import type { FieldNotes } from '../report.js';
import { membersOf, noteVariables, variableMapOf } from '../values.js';
import type { Pm2App } from './app.js';

interface Pm2Environment {
  readonly variables: Readonly<Record<string, string>>;
  /** The variable `PORT`. Drover sets it by itself where a configuration has ports. */
  readonly port: number | undefined;
}

/** Variables of a shell, of a login and of pm2. In the list of processes they are mixed with the app's own. */
const OF_THE_SHELL =
  /^(?:_|PWD|OLDPWD|SHLVL|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|MAIL|HOSTNAME|LS_COLORS|LESSOPEN|LESSCLOSE|DISPLAY|COLORTERM|WINDOWID|STY|TMUX\w*|LC_\w+|SSH_\w+|XDG_\w+|DBUS_\w+|SUDO_\w+|TERM_\w+|VSCODE_\w+|npm_\w+|PM2_\w+|pm_\w+|unique_id|NODE_APP_INSTANCE)$/;

const PORT = /^[1-9][0-9]{0,4}$/;
const LARGEST_PORT = 65_535;

/** `name` selects the `env_<name>` block that overrides `env`; undefined: no override. */
export function environmentOf(app: Pm2App, name: string | undefined, notes: FieldNotes): Pm2Environment {
  const { fields } = app;
  const own = membersOf(fields.env);
  if (own === undefined && fields.env !== undefined) notes.left('env', 'it is no object of variables');
  const all = app.kind === 'process' ? withoutShell(app, own ?? {}, notes) : (own ?? {});
  const shortcut = fields.port === undefined || app.kind === 'process' ? {} : { PORT: fields.port };
  const map = variableMapOf({ ...all, ...shortcut, ...chosen(fields, name, notes) });
  const { values } = map;
  const port = portOf(values.PORT);
  // Leave PORT out: `list.ts` notes the ports of all processes of the app together.
  const converted = map.converted.filter((key) => key !== 'PORT' || port === undefined);
  const isChanged = converted.length + map.dropped.length > 0;
  if (own !== undefined && (isChanged || app.kind === 'app'))
    noteVariables('env', { ...map, converted }, notes);
  if (port === undefined) return { variables: values, port };
  const { PORT: _port, ...variables } = values;
  return { variables, port };
}

function portOf(text: string | undefined): number | undefined {
  const port = text !== undefined && PORT.test(text) ? Number(text) : undefined;
  return port !== undefined && port <= LARGEST_PORT ? port : undefined;
}

/** The `env_<name>` block of this name. Notes the other blocks. */
function chosen(fields: Content, name: string | undefined, notes: FieldNotes): Content {
  for (const field of environmentFields(fields)) {
    if (field === `env_${name}`) notes.taken(field);
    else notes.left(field, `import with --env ${field.slice('env_'.length)} to take it`);
  }
  return name === undefined ? {} : (membersOf(fields[`env_${name}`]) ?? {});
}

/**
 * The names of the `env_<name>` blocks. A shell variable may also be called `env_<name>`, but its value is no
 * object.
 */
export function environmentFields(fields: Content): string[] {
  return Object.keys(fields).filter(
    (field) => field.startsWith('env_') && membersOf(fields[field]) !== undefined,
  );
}

function withoutShell(app: Pm2App, own: Content, notes: FieldNotes): Content {
  const names = Object.keys(own).filter(
    (name) => !OF_THE_SHELL.test(name) && !(name === app.fields.name && own[name] === '{}'),
  );
  const kept = Object.fromEntries(names.map((name) => [name, own[name]]));
  if (names.length > 0)
    notes.changed(
      'env',
      `pm2 saved the variables of its shell too; taken without those of the login: ${names.toSorted().join(', ')}. Remove what the app does not need`,
    );
  return kept;
}
