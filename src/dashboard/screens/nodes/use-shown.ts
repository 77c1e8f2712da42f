/** The configuration that is shown on all nodes: the one pointed at or focused, else the one that the address names. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

export interface ShownConfiguration {
  /** '': none. */
  readonly name: string;
  /** For the element around all cells. */
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
