/** The last step of a dialog that made a secret: the person copies it now, because it is not shown again. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.js';
import { CopyButton } from './copy-button.js';
import { text } from './text.js';

interface ShownOnceProps {
  readonly explain: string;
  readonly label?: string;
  readonly value: string;
  /** More content below the value. */
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

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
