/** The mapping of pm2's lists, as tables: apps in, configurations and what is said of them out. */
import { expect, it } from 'vitest';
import type { Draft } from '../../../tools/import/draft.js';
import type { FileKind } from '../../../tools/import/pm2/command.js';
import { mapList } from '../../../tools/import/pm2/list.js';

const FILES: Readonly<Record<string, FileKind>> = {
  '/srv/app.js': 'text',
  '/srv/tool': 'binary',
  '/srv/run': 'text',
  '/other/job.py': 'text',
};

function draftsOf(value: unknown, environment?: string): readonly Draft[] {
  return mapList(value, {
    directory: '/srv',
    cores: 4,
    environment,
    kindOf: (path) => FILES[path] ?? 'missing',
  }).drafts;
}

/** The only configuration of a list of one app. */
function only(app: object, environment?: string): Extract<Draft, { kind: 'configuration' }> {
  const [draft, ...more] = draftsOf({ apps: [app] }, environment);
  if (draft?.kind !== 'configuration' || more.length > 0) throw new Error('one configuration was expected');
  return draft;
}

function said({ fields }: Pick<Extract<Draft, { kind: 'configuration' }>, 'fields'>): string[] {
  return fields.flatMap(({ field, outcome }) => (outcome === 'taken' ? [] : [`${outcome} ${field}`]));
}

const ADDED = ['added cwd', 'added ramMB', 'added runtime, cpu', 'added stopSignal'];

it('takes a small app with what pm2 does by itself', () => {
  const draft = only({ name: 'web', script: './app.js' });
  expect(draft).toMatchObject({ name: 'web', from: 'apps[0]' });
  expect(draft.content).toEqual({
    runtime: 'process',
    command: 'cd /srv && exec node /srv/app.js',
    cpu: 0,
    ramMB: 2048,
    stopSignal: 'SIGINT',
    environmentVariables: {},
    minimumServiceCount: 1,
  });
  expect(said(draft)).toEqual(ADDED);
});

it.each<[what: string, app: object, command: string]>([
  ['a directory of its own', { script: 'job.py', cwd: '/other' }, 'cd /other && exec python3 /other/job.py'],
  [
    'arguments as a text',
    { script: 'app.js', args: `--a "b c"` },
    "cd /srv && exec node /srv/app.js --a 'b c'",
  ],
  [
    'arguments as a list',
    { script: 'app.js', args: ['$HOME', 5] },
    "cd /srv && exec node /srv/app.js '$HOME' 5",
  ],
  [
    'options of the interpreter',
    { script: 'app.js', node_args: '--inspect --x=1' },
    "cd /srv && exec node --inspect '--x=1' /srv/app.js",
  ],
  ['an interpreter', { script: 'run', interpreter: '/bin/dash' }, 'cd /srv && exec /bin/dash /srv/run'],
  [
    'an interpreter under its other name',
    { script: 'run', exec_interpreter: 'lua' },
    'cd /srv && exec lua /srv/run',
  ],
  ['a version of node', { script: 'app.js', interpreter: 'node@18.0.0' }, 'cd /srv && exec node /srv/app.js'],
  ['no interpreter', { script: 'run', interpreter: 'none' }, 'cd /srv && exec /srv/run'],
  ['a program', { script: './tool' }, 'cd /srv && exec /srv/tool'],
  ['a text without an ending', { script: './run' }, 'cd /srv && exec node /srv/run'],
  ['a program of the PATH', { script: 'npm', args: 'start' }, 'cd /srv && exec npm start'],
  [
    'one of the PATH, said so',
    { script: 'sleep', args: '5', interpreter: 'none' },
    'cd /srv && exec sleep 5',
  ],
  ['a whole command line', { script: "npm run 'x y'" }, `cd /srv && exec bash -c 'npm run '\\''x y'\\'''`],
  ['a script under its other name', { cmd: 'app.js' }, 'cd /srv && exec node /srv/app.js'],
])('makes a command of %s', (_what, app, command) => {
  expect(only({ name: 'a', ...app }).content.command).toBe(command);
});

it.each<[what: string, app: object, content: object, said: readonly string[]]>([
  ['a name that is none', { name: '@me/my app' }, {}, ['changed name']],
  ['a limit of memory', { max_memory_restart: '1G' }, { ramMB: 1024 }, ['changed max_memory_restart']],
  ['a limit in bytes', { max_memory_restart: 209_715_201 }, { ramMB: 201 }, ['changed max_memory_restart']],
  ['a limit that is none', { max_memory_restart: 'lots' }, { ramMB: 2048 }, ['left max_memory_restart']],
  ['no restarts', { autorestart: false }, { restartPolicy: 'never' }, ['changed autorestart']],
  [
    'an exit code that is well',
    { stop_exit_codes: [0] },
    { restartPolicy: 'on-failure' },
    ['changed stop_exit_codes'],
  ],
  ['another exit code', { stop_exit_codes: 3 }, { restartPolicy: undefined }, ['left stop_exit_codes']],
  ['a time to end', { kill_timeout: 3500 }, { stopTimeoutSeconds: 4 }, ['changed kill_timeout']],
  ['a user', { user: 'www', gid: 'adm' }, { runAs: 'www' }, ['left gid', 'changed uid']],
  ['a user in numbers', { uid: 33, gid: 34 }, { runAs: '33:34' }, ['changed uid, gid']],
  ['half a user', { uid: 33 }, { runAs: undefined }, ['left uid']],
  ['a namespace', { namespace: 'my shop' }, { instanceGroups: ['my-shop'] }, ['changed namespace']],
  ['the usual namespace', { namespace: 'default' }, { instanceGroups: undefined }, []],
  [
    'as many as cores',
    { instances: 'max', exec_mode: 'fork' },
    { minimumServiceCount: 4 },
    ['changed instances'],
  ],
  ['one core less', { instances: -1, exec_mode: 'fork' }, { minimumServiceCount: 3 }, ['changed instances']],
  ['all cores', { instances: 0, exec_mode: 'fork' }, { minimumServiceCount: 4 }, ['changed instances']],
  ['a number', { instances: '2', exec_mode: 'fork' }, { minimumServiceCount: 2 }, []],
  ['one that is off', { autostart: false }, { minimumServiceCount: 0 }, ['changed autostart']],
  [
    'what Drover does itself',
    { watch: true, log: 'x', cron: '0 * * * *', max_restarts: 3 },
    {},
    [...['left watch', 'left log', 'left cron', 'left max_restarts']],
  ],
  ['fields that nobody knows', { color: 'red' }, {}, ['left color']],
])('maps %s', (_what, app, content, expected) => {
  const draft = only({ name: 'a', script: 'app.js', ...app });
  for (const [field, value] of Object.entries(content)) expect(draft.content[field], field).toEqual(value);
  const isSized = Object.hasOwn(app, 'max_memory_restart') && draft.content.ramMB !== 2048;
  expect(said(draft).toSorted()).toEqual(
    [...expected, ...ADDED.filter((field) => !(isSized && field === 'added ramMB'))].toSorted(),
  );
});

it.each<[what: string, app: object, content: object, said: readonly string[]]>([
  ['one process', { env: { PORT: 3000 } }, { min: 3000, max: 3000 }, ['changed PORT']],
  ['the short form', { port: 3000 }, { min: 3000, max: 3000 }, ['changed PORT']],
  [
    'a cluster',
    { env: { PORT: '3000' }, instances: 3, exec_mode: 'cluster' },
    { min: 3000, max: 3002 },
    ['changed exec_mode', 'changed PORT'],
  ],
  [
    'a cluster by its count',
    { env: { PORT: 3000 }, instances: 2 },
    { min: 3000, max: 3001 },
    [...['changed exec_mode', 'changed PORT']],
  ],
  [
    'ports that count up',
    { env: { PORT: 3000 }, instances: 2, exec_mode: 'fork', increment_var: 'PORT' },
    { min: 3000, max: 3001 },
    ['changed increment_var', 'changed PORT'],
  ],
])('gives the ports of %s', (_what, app, ports, expected) => {
  const draft = only({ name: 'a', script: 'app.js', ...app });
  expect(draft.content).toMatchObject({ availablePorts: ports, environmentVariables: {} });
  expect(said(draft)).toEqual(expect.arrayContaining([...expected]));
});

it('says of a cluster without a port that it needs one', () => {
  const draft = only({ name: 'a', script: 'app.js', instances: 2 });
  expect(draft.content.availablePorts).toBeUndefined();
  expect(draft.fields).toContainEqual(
    expect.objectContaining({ field: 'env', note: expect.stringContaining('add availablePorts') }),
  );
});

it('takes the environment as texts, lays a named one over it, and says no value', () => {
  const app = {
    name: 'a',
    script: 'app.js',
    env: { A: 'hush', N: 4711, O: { hush: 1 } },
    env_production: { A: 'hush-hush' },
    env_staging: { A: 'x' },
  };
  const draft = only(app, 'production');
  expect(draft.content.environmentVariables).toEqual({ A: 'hush-hush', N: '4711', O: '{"hush":1}' });
  expect(said(draft)).toEqual(expect.arrayContaining(['left env_staging', 'changed env: N, O']));
  expect(JSON.stringify(draft.fields)).not.toMatch(/hush|4711/);
  expect(only(app).content.environmentVariables).toMatchObject({ A: 'hush' });
  expect(() => only(app, 'test')).toThrow(
    'no app of the file has env_test; it has env_production, env_staging',
  );
});

/** As `pm2 save` writes it: the shell's variables stand beside the fields and in `env`. */
function saved(fields: object, env: object): object {
  const shell = {
    HOME: '/var/pm2',
    PATH: '/usr/bin',
    PM2_HOME: '/var/pm2',
    time: 'x',
    web: '{}',
    unique_id: 'u',
  };
  return {
    ...{ name: 'web', namespace: 'default', args: [], node_args: [], vizion: true, autorestart: true },
    ...{ exec_mode: 'fork_mode', pm_exec_path: '/srv/app.js', pm_cwd: '/srv', exec_interpreter: 'node' },
    ...{ status: 'online', restart_time: 3, axm_monitor: {}, NODE_APP_INSTANCE: 0, merge_logs: true },
    ...shell,
    ...fields,
    env: { ...shell, ...env },
  };
}

it('makes one configuration of the saved processes of one app, with their ports', () => {
  const drafts = draftsOf([
    saved({ increment_var: 'PORT' }, { PORT: 4100, KEY: 'hush' }),
    saved({ increment_var: 'PORT', NODE_APP_INSTANCE: 1 }, { PORT: 4101, KEY: 'hush' }),
    saved({ name: 'job', status: 'stopped' }, {}),
  ]);
  expect(drafts).toMatchObject([
    {
      name: 'web',
      from: 'apps[0], apps[1]',
      content: {
        command: 'cd /srv && exec node /srv/app.js',
        environmentVariables: { PATH: '/usr/bin', KEY: 'hush' },
        minimumServiceCount: 2,
        availablePorts: { min: 4100, max: 4101 },
      },
    },
    { name: 'job', content: { minimumServiceCount: 0 } },
  ]);
  const [web] = drafts;
  expect(JSON.stringify(web)).not.toMatch(/PM2_HOME|axm_monitor|restart_time|unique_id/);
  expect(web?.kind === 'configuration' ? said(web) : []).toEqual([
    'changed env',
    'changed increment_var',
    ...ADDED.slice(1),
    'changed processes',
    'changed PORT',
  ]);
});

it('reads what "pm2 jlist" prints like what "pm2 save" writes', () => {
  const process = saved({}, { KEY: 'x' });
  const [listed] = draftsOf([{ pid: 1, name: 'web', pm2_env: process, monit: { memory: 1 } }]);
  expect(listed).toEqual(draftsOf([process])[0]);
});

it('makes a name of the program alone, where a command line has none', () => {
  const draft = only({ script: '/usr/bin/npm start --token=hush' });
  expect(draft.name).toBe('npm');
  expect(JSON.stringify(draft.fields)).not.toContain('hush');
});

it('names a file of variables, and the web server of pm2, as what is left to do', () => {
  expect(said(only({ script: 'serve', env_file: '.env' }))).toEqual(
    expect.arrayContaining(['left env_file', 'changed script']),
  );
});

it('gives different apps of one name names of their own', () => {
  const drafts = draftsOf([
    { name: 'a', script: 'app.js' },
    { name: 'a', script: 'app.js', args: 'x' },
  ]);
  expect(drafts).toMatchObject([{ name: 'a' }, { name: 'a-2' }]);
});

it('refuses what runs nothing, and passes over modules of pm2', () => {
  const { drafts, notes } = mapList(
    { apps: [{ name: 'a' }, 5, { name: 'm', script: 'x', pmx_module: true }], deploy: {} },
    { directory: '/srv', cores: 1, environment: undefined, kindOf: () => 'missing' },
  );
  expect(drafts).toMatchObject([
    { kind: 'refused', from: 'apps[0]', reason: expect.stringContaining('script is missing') },
    { kind: 'refused', from: 'apps[1]' },
  ]);
  expect(notes).toEqual([expect.stringContaining('deploy'), expect.stringContaining('a module of pm2')]);
  expect(() => draftsOf('text')).toThrow('{"apps": [...]}');
});
