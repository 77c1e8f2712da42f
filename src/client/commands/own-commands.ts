/** The commands that only the client has, in the order of the help. Each file declares one, and loads what it does later. */
import type { Command } from 'commander';
import { addAttach } from './attach-command.js';
import type { ClientHost } from './client-host.js';
import { addCompletion } from './completion-commands.js';
import { addCopyCommand } from './copy-command.js';
import { addEdit } from './edit-command.js';
import { addApply, addDelete, addDiff, addPlan, addValidate } from './file-commands.js';
import { addLogs } from './logs-command.js';
import { addRolloutWatch } from './rollout-watch-command.js';
import { addTop } from './top-command.js';
import { addUi } from './ui-command.js';
import { addWait } from './wait-command.js';

/** Adds a command, or a few of one kind, to the program. */
type AddCommand = (program: Command, host: ClientHost) => void;

const OWN_COMMANDS: readonly AddCommand[] = [
  addApply,
  addDiff,
  addPlan,
  addValidate,
  addDelete,
  addEdit,
  addLogs,
  addAttach,
  addWait,
  addRolloutWatch,
  addTop,
  addCopyCommand,
  addUi,
  addCompletion,
];

export function addOwnCommands(program: Command, host: ClientHost): void {
  for (const add of OWN_COMMANDS) add(program, host);
}
