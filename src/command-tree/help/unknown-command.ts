/** Refuses a word that is no command, with the command that was probably meant: by its letters, or by its meaning. */
import { type Command, CommanderError } from 'commander';
import { nearestName } from '../../configuration-files/nearest-name.js';
import { pathOf } from './usage.js';

/** Commands, and the words that kubectl, docker, pm2, systemctl and their like have for them. */
const MEANINGS: Readonly<Record<string, string>> = {
  'instance list':
    'ps ls list pod pods po container containers process processes task tasks alloc allocs server servers',
  'config list': 'deployment deployments deploy service services svc app apps job jobs cm workloads',
  'cluster nodes': 'host hosts machine machines no members',
  'cluster status': 'status all health overview',
  'instance info': 'get show inspect describe status',
  'config show': 'get describe inspect cat',
  'cluster why': 'get show inspect describe info',
  'instance create': 'run create new add spawn',
  'instance delete': 'rm remove del destroy',
  'config delete': 'rm remove del destroy',
  'config restart': 'redeploy recreate restart',
  'config rollback': 'undo revert rollback',
  'instance stop': 'kill end halt terminate down',
  'instance logs': 'log tail journal journalctl',
  'instance execute': 'exec send write',
  'config reload': 'reload daemon-reload',
  'config history': 'revisions versions',
  'template list': 'image images',
  'cluster drain': 'drain evict',
  'cluster cordon': 'cordon pause',
  'cluster uncordon': 'uncordon undrain enable',
  'key list': 'user users secret secrets',
  apply: 'up deploy',
  top: 'stats monit monitor usage',
  attach: 'shell ssh console',
  'context use': 'login connect use switch',
};

/** Lets a program or group, and every group below it, refuse words that are none of its commands. */
export function refuseUnknownCommands(group: Command): void {
  group.on('command:*', ([word = '']: readonly string[]) => {
    throw unknownCommand(group, word);
  });
  for (const child of group.commands) if (child.commands.length > 0) refuseUnknownCommands(child);
}

export function unknownCommand(parent: Command, typed: string): CommanderError {
  const prefix = parent.parent === null ? '' : `${pathOf(parent)} `;
  let program = parent;
  while (program.parent !== null) program = program.parent;
  const known = Object.entries(MEANINGS)
    .filter(([path, words]) => words.split(' ').includes(typed.toLowerCase()) && has(program, path))
    .map(([path]) => path);
  const names = parent
    .createHelp()
    .visibleCommands(parent)
    .map((child) => child.name());
  const nearest = nearestName(typed, names);
  const meant = known.find((path) => prefix !== '' && path.startsWith(prefix)) ?? known[0];
  const hint = meant ?? (nearest && `${prefix}${nearest}`);
  return new CommanderError(
    1,
    'commander.unknownCommand',
    `error: unknown command '${prefix}${typed}'${hint === undefined ? '' : `\n(Did you mean ${hint}?)`}`,
  );
}

function has(program: Command, path: string): boolean {
  let command: Command | undefined = program;
  for (const word of path.split(' ')) command = command?.commands.find((child) => child.name() === word);
  return command !== undefined;
}
