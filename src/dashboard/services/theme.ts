/** The theme, light or dark: as the system says, or as the operator has chosen in this browser. */
import { effect, type Signal, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const STORED_AS = 'drover-theme';

/** The chosen theme. Setting it changes the page, and the browser keeps it. */
export function keepTheme(root: HTMLElement, storage: Storage): Signal<Theme> {
  const stored = storage.getItem(STORED_AS);
  const theme = signal<Theme>(THEMES.find((name) => name === stored) ?? 'system');
  effect(() => {
    root.dataset.theme = theme.value;
    if (theme.value === 'system') storage.removeItem(STORED_AS);
    else storage.setItem(STORED_AS, theme.value);
  });
  return theme;
}
