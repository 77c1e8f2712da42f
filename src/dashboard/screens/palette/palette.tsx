/** The palette: runs lines of the console with completion, shows their output, and leads to anything by name. */
import { Button, Submit } from '../../parts/button.js';
import { Confirm, Dialog } from '../../parts/dialog.js';
import { Field, PlainForm } from '../../parts/form.js';
import { text as parts } from '../../parts/text.js';
import './palette.css';
import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.js';
import { visibleText } from '../../parts/words/visible-text.js';
import type { ScreenChoice } from './places.js';
import { text } from './text.js';
import { type Choice, type Ran, usePalette } from './use-palette.js';

interface PaletteProps {
  /** The screens that the key may see. */
  readonly screens: readonly ScreenChoice[];
  readonly onClose: () => void;
}

export function Palette({ screens, onClose }: PaletteProps) {
  const palette = usePalette(screens, onClose);
  const kind = palette.canCommand ? 'commands' : 'places';
  const { active, choices, line } = palette;
  // After a run, show the output in place of the choices, until something is typed or marked.
  const shown = palette.ran === null || line !== '' || active >= 0 ? choices : [];
  return (
    <Dialog title={text.title[kind]} size="wide" onClose={onClose}>
      <PlainForm
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
        <LineInput palette={palette} isExpanded={shown.length > 0} />
        <ChoiceList choices={shown} active={active} onTake={palette.take} />
        {line !== '' && choices.length === 0 && !palette.canCommand && <p class="quiet">{text.noneFound}</p>}
        <p class="palette-keys quiet">{palette.canCommand ? text.keys : text.keysPlaces}</p>
      </PlainForm>
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

interface LineInputProps {
  readonly palette: ReturnType<typeof usePalette>;
  readonly isExpanded: boolean;
}

function LineInput({ palette, isExpanded }: LineInputProps) {
  const { active, choices, line, command } = palette;
  const kind = palette.canCommand ? 'commands' : 'places';
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
  const element = useRef<HTMLInputElement>(null);
  useEffect(() => element.current?.focus(), []);
  return (
    <Field
      label={text.label[kind]}
      hint={command === undefined ? text.hint[kind] : `${command.usage}: ${command.about}`}
    >
      {(ids) => (
        <input
          {...ids}
          ref={element}
          type="text"
          class="input mono"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isExpanded}
          aria-controls="palette-choices"
          aria-activedescendant={active < 0 ? undefined : `palette-choice-${active}`}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={line}
          onInput={(event) => palette.type(event.currentTarget.value)}
          onKeyDown={onKey}
        />
      )}
    </Field>
  );
}

/** The most characters that are shown: an answer may have 4 MiB, which a browser lays out slowly. */
const MOST_CHARS = 200_000;

function CommandOutput({ ran: { line, output } }: { readonly ran: Ran }) {
  const isCut = output.length > MOST_CHARS;
  return (
    <section class="stack" aria-label={text.output}>
      <div class="spread">
        <code>{visibleText(line)}</code>
        {output !== '' && <CopyButton value={output} label={text.copyOutput} />}
      </div>
      {isCut && <p class="quiet">{text.cut(MOST_CHARS, output.length)}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach that */}
      <pre class="output" role="log" tabIndex={0}>
        {output === '' ? text.noOutput : visibleText(output.slice(0, MOST_CHARS))}
      </pre>
    </section>
  );
}

interface ChoiceListProps {
  readonly choices: readonly Choice[];
  /** The place of the marked choice; -1: none. */
  readonly active: number;
  readonly onTake: (choice: Choice) => void;
}

/** The choices for the line: completions and places. The focus stays in the input. */
function ChoiceList({ choices, active, onTake }: ChoiceListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  if (choices.length === 0) return null;
  return (
    <div ref={list} id="palette-choices" class="palette-choices" role="listbox" aria-label={text.suggestions}>
      {choices.map((choice, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
        <div
          key={choice.kind === 'place' ? choice.href : choice.line}
          id={`palette-choice-${place}`}
          class="palette-choice"
          role="option"
          aria-selected={place === active}
          onClick={() => onTake(choice)}
        >
          <span class="mono">{choice.label}</span>
          <span class="quiet">{choice.about}</span>
        </div>
      ))}
    </div>
  );
}
