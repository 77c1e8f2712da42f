/** The keyboard shortcuts of every screen. Those that are letters do nothing while the operator types. */
import { useEffect } from 'preact/hooks';

interface Keys {
  readonly onCommands: () => void;
  readonly onHelp: () => void;
}

export function useKeys({ onCommands, onHelp }: Keys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const act = actionOf(event, { onCommands, onHelp });
      if (act === null) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

function actionOf(event: KeyboardEvent, { onCommands, onHelp }: Keys): (() => void) | null {
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand) return event.key.toLowerCase() === 'k' ? onCommands : null;
  if (event.altKey || event.defaultPrevented || isTyping(event.target)) return null;
  if (event.key === '?') return onHelp;
  return event.key === '/' ? focusSearch() : null;
}

/** Makes the action that puts the cursor into the screen's search field; null: the screen has no such field. */
function focusSearch(): (() => void) | null {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  return field === null ? null : () => field.focus();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null;
}
