/** How a command is written. */
import type { Command } from 'commander';

/** The words that lead to a command: `instance create`. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

/** `instance create [options] <configuration> [count]`. */
export function fullUsageOf(command: Command): string {
  return `${pathOf(command)} ${command.usage()}`;
}

/** `instance create <configuration> [count]`; options are named by the help of each command. */
export function usageOf(command: Command): string {
  return fullUsageOf(command)
    .replace('[options] ', '')
    .replace(/ ?\[options\]$/, '');
}
