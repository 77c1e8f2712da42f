/** The palette: runs lines of the console with completion, shows their output, and leads to anything by name. */
import { Button, Submit } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Dialog } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { text as parts } from '../../parts/text.js';
import { ChoiceList } from './choice-list.js';
import { CommandOutput } from './command-output.js';
import { LineInput } from './line-input.js';
import './palette.css';
import type { ScreenChoice } from './places.js';
import { text } from './text.js';
import { usePalette } from './use-palette.js';

interface PaletteProps {
  /** The screens that the key may see. */
  readonly screens: readonly ScreenChoice[];
  readonly onClose: () => void;
}

export function Palette({ screens, onClose }: PaletteProps) {
  const palette = usePalette(screens, onClose);
  const kind = palette.canCommand ? 'commands' : 'places';
  const { active, choices, line, command } = palette;
  // After a run the output has the room, until something is typed or chosen.
  const shown = palette.ran === null || line !== '' || active >= 0 ? choices : [];
  const onKey = (event: KeyboardEvent): void => {
    const choice = choices[Math.max(0, active)];
    if (event.key === 'ArrowDown' && palette.isRecalling) palette.recall(-1);
    else if (event.key === 'ArrowDown') palette.mark(active + 1);
    else if (event.key === 'ArrowUp' && (line === '' || palette.isRecalling)) palette.recall(1);
    else if (event.key === 'ArrowUp') palette.mark(active - 1);
    else if (event.key === 'Tab' && !event.shiftKey && line !== '' && choice?.kind === 'completion')
      palette.take(choice);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={text.title[kind]} size="wide" onClose={onClose}>
      <Form
        problem={palette.problem}
        onSubmit={palette.enter}
        foot={
          <>
            <Button onPress={onClose}>{parts.close}</Button>
            {palette.canCommand && (
              <Submit isBusy={palette.isRunning}>{palette.isRunning ? text.running : text.run}</Submit>
            )}
          </>
        }
      >
        <LineInput
          label={text.label[kind]}
          hint={command === undefined ? text.hint[kind] : `${command.usage}: ${command.about}`}
          value={line}
          onInput={palette.type}
          onKey={onKey}
          isExpanded={shown.length > 0}
          active={active < 0 ? undefined : `palette-choice-${active}`}
        />
        <ChoiceList choices={shown} active={active} onTake={palette.take} />
        {line !== '' && choices.length === 0 && !palette.canCommand && <p class="quiet">{text.noneFound}</p>}
        <p class="palette-keys quiet">{palette.canCommand ? text.keys : text.keysPlaces}</p>
      </Form>
      {palette.ran !== null && <CommandOutput ran={palette.ran} />}
      {palette.asksFirst && (
        <Confirm
          title={text.askTitle}
          explanation={text.askExplain}
          names={[line.trim()]}
          action={text.run}
          isDanger
          onConfirm={async () => palette.confirm()}
          onClose={palette.endAsking}
        />
      )}
    </Dialog>
  );
}
