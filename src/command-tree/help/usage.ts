/** How a command is written, for help and messages. */
import type { Command } from 'commander';

/** The words that lead to a command: `instance create`. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

/** The command with its arguments: `instance create [options] <configuration> [count]`. */
export function fullUsageOf(command: Command): string {
  return `${pathOf(command)} ${command.usage()}`;
}

/**
 * The command with its arguments and without its options: `instance create <configuration> [count]`. The command's own
 * help lists the options.
 */
export function usageOf(command: Command): string {
  return fullUsageOf(command)
    .replace('[options] ', '')
    .replace(/ ?\[options\]$/, '');
}
