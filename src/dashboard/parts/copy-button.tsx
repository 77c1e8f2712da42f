/** A button that copies a text, and a view that shows a new secret once. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useServices } from '../services/services.js';
import { Button, putting } from './button.js';
import { Icon } from './icon.js';
import { text } from './text.js';

interface ShownOnceProps {
  readonly explain: string;
  readonly label?: string;
  readonly value: string;
  /** More content below the value. */
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a secret that the person copies now, because it is not shown again. */
export function ShownOnce({ explain, label, value, children, onClose }: ShownOnceProps) {
  return (
    <>
      <p>{explain}</p>
      {label !== undefined && <h3>{label}</h3>}
      <pre class="output shown-once">{value}</pre>
      {children}
      <div class="foot">
        <Button onPress={onClose}>{text.close}</Button>
        <CopyButton value={value} />
      </div>
    </>
  );
}

const SHOWN_MS = 2_000;

/** A value with a button that copies it. */
export function CopyValue({ value }: { readonly value: string }) {
  return (
    <span class="inline">
      <bdi class="mono">{value}</bdi>
      <CopyButton value={value} hint={text.copyOf(value)} />
    </span>
  );
}

interface CopyButtonProps {
  readonly value: string;
  readonly label?: string;
  readonly hint?: string;
}

export function CopyButton({ value, label = text.copy, hint }: CopyButtonProps) {
  const { toasts } = useServices();
  const isDone = useSignal(false);
  const copy = async (): Promise<void> => {
    await copyText(value);
    isDone.value = true;
    setTimeout(putting(isDone, false), SHOWN_MS);
  };
  return (
    <Button
      kind={hint === undefined ? 'normal' : 'quiet'}
      hint={hint}
      onPress={() => void toasts.run(copy())}
    >
      <Icon name="copy" />
      <span>{isDone.value ? text.copied : label}</span>
    </Button>
  );
}

/**
 * Copies a text. Browsers give the clipboard only to pages over TLS or on this computer; the older way works
 * everywhere.
 */
export async function copyText(value: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(value);
  const area = document.createElement('textarea');
  area.value = value;
  // The browser selects nothing outside an open dialog.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('The browser refused to copy. Select the text and press Ctrl-C.');
}
