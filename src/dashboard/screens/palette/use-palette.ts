/** The state of the palette: the line, its choices, the marked choice, and the run of a command. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ListedCommand } from '../../../api/http/command-runner.js';
import type { Candidates, CommandOutput } from '../../../api/routes/command-routes.js';
import { CommandHistory } from '../../parts/command-history.js';
import { useSubmit } from '../../parts/form.js';
import { useAsked, useServices, useTopic } from '../../services/services.js';
import {
  type Answered,
  type Completion,
  commandOf,
  completionsOf,
  isDestructive,
  isRunnable,
} from './command-line.js';
import { type PlaceChoice, placesFor, type ScreenChoice } from './places.js';

export type Choice =
  | ({ readonly kind: 'completion' } & Completion)
  | ({ readonly kind: 'place' } & PlaceChoice);

export interface Ran {
  readonly line: string;
  readonly output: string;
}

const NO_COMMANDS: readonly ListedCommand[] = [];
const NO_COMPLETION: Answered = { asked: '', word: '', candidates: [] };

export function usePalette(screens: readonly ScreenChoice[], onClose: () => void) {
  const { api, session } = useServices();
  const canCommand = session.can('ALL') && session.isUnrestricted;
  const line = useSignal('');
  /**
   * The place of the marked choice; -1: no choice is marked. Undefined: the operator has not moved the mark, so the
   * default counts.
   */
  const marked = useSignal<number | undefined>(undefined);
  const ran = useSignal<Ran | null>(null);
  const asksFirst = useSignal(false);
  const commands = useCommands(canCommand);
  const choices = useChoices({ line: line.value, commands, canCommand, screens });
  const history = useMemo(
    () => new CommandHistory(sessionStorage, session.caller.value?.session ?? '', 'console'),
    [session.caller.value],
  );
  const runs = canCommand && isRunnable(commands, line.value);
  const active = Math.min(marked.value ?? (runs || line.value === '' ? -1 : 0), choices.length - 1);

  const type = (value: string): void => {
    line.value = value;
    marked.value = undefined;
    history.rest();
  };
  const execution = useSubmit(async () => {
    const command = line.value.trim();
    history.add(command);
    const { output } = await api.post<CommandOutput>('/commands/execute', { body: { command } });
    ran.value = { line: command, output };
    type('');
  });
  const take = (choice: Choice): void => {
    if (choice.kind === 'completion') {
      type(choice.line);
      return;
    }
    location.hash = choice.href;
    onClose();
  };
  return {
    canCommand,
    line: line.value,
    command: commandOf(commands, line.value),
    choices,
    active,
    ran: ran.value,
    asksFirst: asksFirst.value,
    isRunning: execution.isBusy,
    problem: execution.problem,
    type,
    take,
    mark: (place: number): void => {
      marked.value = Math.max(-1, Math.min(choices.length - 1, place));
    },
    /** Takes the marked choice, or runs the line. */
    enter: (): void => {
      const choice = choices[active];
      if (choice !== undefined) take(choice);
      else if (!canCommand || line.value.trim() === '') return;
      else if (isDestructive(commands, line.value)) asksFirst.value = true;
      else execution.submit();
    },
    confirm: execution.submit,
    endAsking: (): void => {
      asksFirst.value = false;
    },
    /** Shows the command before this one in the history; `by` below 0: the command after it. */
    recall: (by: number): void => {
      const found = by > 0 ? history.older(line.value) : history.newer();
      if (found === undefined) return;
      line.value = found;
      marked.value = -1;
    },
    isRecalling: history.isRecalling,
  };
}

function useCommands(canCommand: boolean): readonly ListedCommand[] {
  const asked = useAsked(
    async (api, signal) =>
      canCommand ? await api.get<ListedCommand[]>('/commands', { signal }) : NO_COMMANDS,
    [canCommand],
  );
  return asked.value.value ?? NO_COMMANDS;
}

function useChoices(given: {
  readonly line: string;
  readonly commands: readonly ListedCommand[];
  readonly canCommand: boolean;
  readonly screens: readonly ScreenChoice[];
}): readonly Choice[] {
  const { line, commands, canCommand, screens } = given;
  const completion = useAsked(
    async (api, signal) =>
      canCommand
        ? { asked: line, ...(await api.get<Candidates>('/commands/completion', { query: { line }, signal })) }
        : NO_COMPLETION,
    [line, canCommand],
  );
  const instances = useTopic('instances');
  const configurations = useTopic('configurations');
  const nodes = useTopic('nodes');
  // Leave the stores out of the keys: each typed letter makes the list again, so their changes may wait.
  const places = useMemo(
    () =>
      placesFor(line, {
        screens,
        instances: instances.entries.values(),
        configurations: configurations.entries.keys(),
        nodes: nodes.entries.keys(),
      }),
    [line, screens, instances.isLoaded.value, configurations.isLoaded.value, nodes.isLoaded.value],
  );
  const completions = completionsOf(commands, line, completion.value.value ?? NO_COMPLETION);
  return [
    ...completions.map((one) => ({ kind: 'completion', ...one }) as const),
    ...(canCommand && isRunnable(commands, line) ? [] : places).map(
      (one) => ({ kind: 'place', ...one }) as const,
    ),
  ];
}
