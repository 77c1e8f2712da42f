/** Finds what kind of word is being typed, from the words before it. The completion of console and client uses it. */
import type { Command, Option } from 'commander';

export interface KnownWord {
  readonly word: string;
  /** The meaning of the word, for the reader; '': the name says enough. */
  readonly about: string;
}

export type WantedWord =
  /** A word of a known list: a command, an option, or a choice of an argument. */
  | { readonly kind: 'known'; readonly words: readonly KnownWord[] }
  /** An argument of `command`. `argument`: its name there. */
  | { readonly kind: 'argument'; readonly command: Command; readonly argument: string }
  /** The value of an option, such as `--context`. */
  | { readonly kind: 'value'; readonly option: string }
  | { readonly kind: 'nothing' };

/** Finds the kind of the word after `before`. `typed`: the part of the word that is typed already. */
export function wantedWord(program: Command, before: readonly string[], typed: string): WantedWord {
  const { command, rest, pending, areOptionsOver } = walk(program, before);
  if (pending !== undefined) return wantedValue(pending);
  if (typed.startsWith('-') && typed !== '-' && !areOptionsOver)
    return { kind: 'known', words: optionsOf(command) };
  if (command.name() === 'help') return commandsOf(walk(program, rest).command);
  if (rest.length === 0 && command.commands.length > 0) return commandsOf(command);
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument = all[rest.length] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) return { kind: 'nothing' };
  if (argument.argChoices !== undefined) return { kind: 'known', words: argument.argChoices.map(plain) };
  return { kind: 'argument', command, argument: argument.name() };
}

/**
 * Follows the words into the tree. `rest`: the arguments among the words. `pending`: the option whose value is the
 * next word. `areOptionsOver`: a `--` was among the words, so all further words are arguments.
 */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let pending: Option | undefined;
  let areOptionsOver = false;
  const rest: string[] = [];
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (!areOptionsOver && word === '--') areOptionsOver = true;
    else if (!areOptionsOver && word.startsWith('-') && word !== '-') pending = optionBefore(command, word);
    else {
      const next = rest.length === 0 ? childOf(command, word) : undefined;
      if (next === undefined) rest.push(word);
      else command = next;
    }
  }
  return { command, rest, pending, areOptionsOver };
}

function childOf(command: Command, word: string): Command | undefined {
  return command.commands.find((child) => child.name() === word || child.aliases().includes(word));
}

/** The option that the word names, when its value is the next word. */
function optionBefore(command: Command, word: string): Option | undefined {
  const found = command.options.find(({ long, short }) => long === word || short === word);
  return found?.required === true ? found : undefined;
}

function commandsOf(command: Command): WantedWord {
  const words = command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ word: child.name(), about: child.description() }));
  return { kind: 'known', words };
}

function optionsOf(command: Command): KnownWord[] {
  // The help does not repeat the options of all commands, but the completion offers them.
  return [...command.options, { long: '--help', description: 'show help' }].flatMap(
    ({ long, description }) => (long == null ? [] : [{ word: long, about: description }]),
  );
}

function wantedValue({ argChoices, long, short }: Option): WantedWord {
  if (argChoices !== undefined) return { kind: 'known', words: argChoices.map(plain) };
  return { kind: 'value', option: long ?? short ?? '' };
}

/** A word whose name says enough. */
export function plain(word: string): KnownWord {
  return { word, about: '' };
}
