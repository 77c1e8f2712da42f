/** A button that opens a list of actions. Arrow keys move in it, Escape closes it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type ButtonKind, putting } from './button.js';

export interface MenuItem {
  readonly label: string;
  readonly onPress: () => void;
  readonly isDanger?: boolean;
  /** True for the chosen item of a choice, false for the others. Undefined: the item is an action. */
  readonly isChecked?: boolean;
}

interface MenuProps {
  readonly label: ComponentChildren;
  readonly items: readonly MenuItem[];
  readonly kind?: ButtonKind;
}

export function Menu({ label, items, kind = 'normal' }: MenuProps) {
  const isOpen = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen.value) return;
    root.current?.querySelector<HTMLElement>('[role^="menuitem"]')?.focus();
    const closeOutside = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) isOpen.value = false;
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen.value, isOpen]);
  const close = (): void => {
    isOpen.value = false;
    root.current?.querySelector('button')?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') isOpen.value = false;
    else if (event.key === 'ArrowDown') moveFocus(root.current, 1);
    else if (event.key === 'ArrowUp') moveFocus(root.current, -1);
    else return;
    if (event.key !== 'Tab') event.preventDefault();
  };
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class={`button button-${kind}`}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={putting(isOpen, !isOpen.value)}
      >
        {label}
      </button>
      {isOpen.value && (
        <div class="menu-list" role="menu" tabIndex={-1} onKeyDown={onKey}>
          {items.map((item) => (
            <MenuEntry key={item.label} item={item} onDone={close} />
          ))}
        </div>
      )}
    </div>
  );
}

function MenuEntry({ item, onDone }: { readonly item: MenuItem; readonly onDone: () => void }) {
  const { label, isChecked, isDanger = false, onPress } = item;
  return (
    <button
      type="button"
      {...(isChecked === undefined
        ? { role: 'menuitem' }
        : { role: 'menuitemcheckbox', 'aria-checked': isChecked })}
      class={`menu-item${isDanger ? ' menu-item-danger' : ''}`}
      onClick={() => {
        // A list of choices stays open for the next choice.
        if (isChecked === undefined) onDone();
        onPress();
      }}
    >
      {isChecked !== undefined && <span class="menu-check">{isChecked ? '✓' : ''}</span>}
      {label}
    </button>
  );
}

function moveFocus(root: HTMLElement | null, by: number): void {
  const items = [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
  const place = items.findIndex((item) => item.matches(':focus'));
  items[(place + by + items.length) % items.length]?.focus();
}
