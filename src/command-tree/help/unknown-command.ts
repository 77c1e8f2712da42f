/** Refuses a word that is no command, with the command that was probably meant: by its letters, or by its meaning. */
import type { Command } from 'commander';
import { nearestName } from '../../configuration-files/nearest-name.js';
import type { DroverError } from '../../model/errors.js';
import { invalid } from '../command.js';
import { pathOf } from './usage.js';

/** Commands, and the words that kubectl, docker, pm2, systemctl and their like have for them. */
const MEANINGS: Readonly<Record<string, string>> = {
  'instance list':
    'runs ps ls list pod pods po container containers process processes task tasks allocs servers',
  'config list': 'deployment deployments deploy service services svc app apps job jobs',
  'instance why': 'why explain reason',
  'config why': 'why explain reason',
  'cluster nodes': 'host hosts machine machines members',
  'cluster status': 'status all health overview',
  'instance info': 'get show inspect describe status',
  'config show': 'get describe inspect',
  'cluster why': 'get show inspect describe info',
  'instance create': 'run create new add',
  'instance delete': 'rm remove del',
  'config delete': 'rm remove del',
  'config restart': 'redeploy recreate restart',
  'config rollback': 'undo revert rollback',
  'instance stop': 'kill end halt down',
  'instance logs': 'log tail journalctl',
  'config reload': 'reload daemon-reload',
  'cluster drain': 'drain evict cordon',
};

/** Lets a program or group, and every group below it, refuse words that are none of its commands. */
export function refuseUnknownCommands(group: Command): void {
  group.on('command:*', ([word = '']: readonly string[]) => {
    throw unknownCommand(group, word);
  });
  for (const child of group.commands) if (child.commands.length > 0) refuseUnknownCommands(child);
}

export function unknownCommand(parent: Command, typed: string): DroverError {
  const prefix = parent.parent === null ? '' : `${pathOf(parent)} `;
  const known = Object.entries(MEANINGS)
    .filter(([, words]) => words.split(' ').includes(typed.toLowerCase()))
    .map(([path]) => path);
  const names = parent
    .createHelp()
    .visibleCommands(parent)
    .map((child) => child.name());
  const nearest = nearestName(typed, names);
  const own = known.filter((path) => prefix !== '' && path.startsWith(prefix));
  const meant = (own.length === 0 ? known : own).join(' or ') || undefined;
  const hint = meant ?? (nearest && `${prefix}${nearest}`);
  return invalid(
    `unknown command '${prefix}${typed}'${hint === undefined ? ': "help" lists all' : `. Did you mean ${hint}?`}`,
  );
}
