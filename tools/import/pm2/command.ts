/** Makes the shell command line that starts what pm2 starts from script, interpreter and arguments. Pure. */
import { basename, extname, resolve } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { shellWord } from '../../../src/model/words.js';
import type { FieldNotes } from '../report.js';
import { listOf } from '../values.js';
import type { Pm2App } from './app.js';

/** The kind of file at a path of this machine. */
export type FileKind = 'missing' | 'text' | 'binary';

export interface CommandFacts {
  /** The absolute directory of an app that names none. */
  readonly directory: string;
  kindOf(path: string): FileKind;
}

/** The interpreter that pm2 takes for the file extension of a script, when the app names no interpreter. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  '.sh': 'bash',
  '.py': 'python3',
  '.rb': 'ruby',
  '.php': 'php',
  '.pl': 'perl',
  '.js': 'node',
  '.coffee': 'coffee',
  '.ls': 'lsc',
  '.ts': 'bun',
  '.tsx': 'bun',
};

interface CommandLine {
  readonly command: string;
  /** True when Node.js runs the app. For pm2, several processes of such an app are a cluster. */
  readonly isNode: boolean;
}

/** The command line; undefined: the app names no script. Notes script, interpreter, arguments and directory. */
export function commandOf(app: Pm2App, facts: CommandFacts, notes: FieldNotes): CommandLine | undefined {
  const { script, cwd } = app.fields;
  if (typeof script !== 'string' || script === '') return undefined;
  const directory = typeof cwd === 'string' ? resolve(facts.directory, cwd) : facts.directory;
  if (cwd === undefined) notes.added('cwd', `${directory}, where the file lies`);
  else notes.taken(app.nameOf('cwd'));
  const words = wordsOf(app, script, directory, facts, notes);
  const isNode = /^node(?:js)?$/.test(basename(words[0] ?? ''));
  return { command: `cd ${shellWord(directory)} && exec ${words.map(shellWord).join(' ')}`, isNode };
}

function wordsOf(
  app: Pm2App,
  script: string,
  directory: string,
  { kindOf }: CommandFacts,
  notes: FieldNotes,
): string[] {
  notes.taken(app.nameOf('script'));
  // pm2 treats a script with a blank as a command line, and ignores the arguments.
  if (app.kind === 'app' && script.includes(' ')) {
    for (const field of ['args', 'interpreter', 'interpreter_args'])
      if (field in app.fields)
        notes.left(app.nameOf(field), 'pm2 ignores it, as the script is a command line');
    return ['bash', '-c', script];
  }
  const path = resolve(directory, script);
  const kind = kindOf(path);
  const args = argumentsOf(app, 'args', notes);
  if (kind === 'missing' && script === 'serve')
    notes.changed(
      app.nameOf('script'),
      "pm2's own web server, which Drover has not: install a program named serve, or run nginx",
    );
  if (kind === 'missing' && isProgramOfPath(app, script)) return [script, ...args];
  if (kind === 'missing')
    notes.changed(app.nameOf('script'), `${path} is not on this machine: it must be on those that run it`);
  const interpreter = interpreterOf(app, path, kind, notes);
  const options = argumentsOf(app, 'interpreter_args', notes);
  return interpreter === undefined ? [path, ...args] : [interpreter, ...options, path, ...args];
}

/** True for a script that pm2 would look for in the PATH when there is no such file. */
function isProgramOfPath({ fields: { interpreter } }: Pm2App, script: string): boolean {
  const isItself = interpreter === undefined || interpreter === 'none';
  return isItself && !script.includes('/') && !Object.hasOwn(INTERPRETERS, extname(script));
}

/** The interpreter; undefined: the script is a program by itself. */
function interpreterOf(app: Pm2App, path: string, kind: FileKind, notes: FieldNotes): string | undefined {
  const { interpreter } = app.fields;
  if (typeof interpreter === 'string') {
    const [program = interpreter, version] = interpreter.split('@');
    if (version === undefined) notes.taken(app.nameOf('interpreter'));
    else notes.changed(app.nameOf('interpreter'), `${program} of the PATH, not of version ${version}`);
    return program === 'none' ? undefined : program;
  }
  const byName = INTERPRETERS[extname(path)];
  if (byName !== undefined) return byName;
  return kind === 'text' ? 'node' : undefined;
}

function argumentsOf(app: Pm2App, field: 'args' | 'interpreter_args', notes: FieldNotes): string[] {
  const value = app.fields[field];
  const list = typeof value === 'string' ? parseArgsStringToArgv(value) : (listOf(value) ?? []);
  if (list.length > 0) notes.taken(app.nameOf(field));
  return list.map(String);
}
