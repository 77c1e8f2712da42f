/** A button that copies a text, such as a command to paste. */
import { useSignal } from '@preact/signals';
import { useServices } from '../services/services.js';
import { Button } from './button.js';
import { text } from './text.js';

const SHOWN_MS = 2_000;

export function CopyButton({
  value,
  label = text.copy,
}: {
  readonly value: string;
  readonly label?: string;
}) {
  const { toasts } = useServices();
  const isDone = useSignal(false);
  const copy = async (): Promise<void> => {
    await copyText(value);
    isDone.value = true;
    setTimeout(() => {
      isDone.value = false;
    }, SHOWN_MS);
  };
  return <Button onPress={() => void toasts.run(copy())}>{isDone.value ? text.copied : label}</Button>;
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
