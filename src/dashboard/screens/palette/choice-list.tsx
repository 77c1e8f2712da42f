/** The choices for the line: completions and places. The focus stays in the input. */
import { useEffect, useRef } from 'preact/hooks';
import { text } from './text.js';
import type { Choice } from './use-palette.js';

interface ChoiceListProps {
  readonly choices: readonly Choice[];
  /** The place of the marked choice; -1: none. */
  readonly active: number;
  readonly onTake: (choice: Choice) => void;
}

export function ChoiceList({ choices, active, onTake }: ChoiceListProps) {
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
