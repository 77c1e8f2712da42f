/**
 * The configuration that is shown on all nodes: the one under the pointer or the focus, else the one in the address.
 */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

interface ShownConfiguration {
  /** The name; '': no configuration. */
  readonly name: string;
  /** The event handlers for the element around all cells. */
  readonly events: {
    readonly onPointerOver: (event: Event) => void;
    readonly onPointerLeave: () => void;
    readonly onFocusIn: (event: Event) => void;
    readonly onFocusOut: () => void;
  };
}

export function useShown(chosen: string): ShownConfiguration {
  const pointed = useSignal('');
  const events = useMemo(() => {
    const follow = (event: Event): void => {
      const cell = event.target instanceof Element ? event.target.closest('[data-configuration]') : null;
      pointed.value = cell?.getAttribute('data-configuration') ?? '';
    };
    const end = (): void => {
      pointed.value = '';
    };
    return { onPointerOver: follow, onPointerLeave: end, onFocusIn: follow, onFocusOut: end };
  }, [pointed]);
  return { name: pointed.value === '' ? chosen : pointed.value, events };
}
