/**
 * The instances of one node as cells, whose shape and colour say the state. The instances of the shown configuration
 * stand out. The strip is one Tab stop: arrow keys move in it, Enter opens an instance.
 */

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { InstanceInfo } from '../../../model/instance.js';
import { toneOf } from '../../parts/state-badge.js';
import { text as parts } from '../../parts/text.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';

interface CellStripProps {
  readonly label: string;
  readonly instances: readonly InstanceInfo[];
  /** How many instances of the node have no cell here. */
  readonly more: number;
  /** The configuration whose instances stand out; '': none. */
  readonly shown: string;
  /** True on a phone, where cells are too small to press: the strip is only a picture, of as many cells as fit. */
  readonly isPicture?: boolean;
}

export function CellStrip({ label, instances, more, shown, isPicture = false }: CellStripProps) {
  return (
    <div class="cells" role="group" aria-label={label} onKeyDown={moveFocus}>
      {instances.map((instance, place) => (
        <Cell key={instance.id} instance={instance} shown={shown} place={place} isPicture={isPicture} />
      ))}
      {more > 0 && !isPicture && <span class="quiet">{text.more(more)}</span>}
    </div>
  );
}

interface CellProps {
  readonly instance: InstanceInfo;
  readonly shown: string;
  readonly place: number;
  readonly isPicture: boolean;
}

function Cell({ instance, shown, place, isPicture }: CellProps) {
  const { id, configurationName, state, message } = instance;
  const isOther = shown !== '' && shown !== configurationName;
  const style = `cell tone-${toneOf(state)}${isOther ? ' cell-other' : ''}`;
  if (isPicture) return <span class={style} />;
  const words = `${configurationName} ${id}: ${parts.states[state]}`;
  return (
    <a
      class={style}
      href={hrefOf(['instances', id])}
      title={message === null ? words : `${words}, ${message}`}
      tabIndex={place === 0 ? 0 : -1}
      data-configuration={configurationName}
    >
      <span class="hidden-text">{words}</span>
    </a>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

function moveFocus(event: KeyboardEvent): void {
  const step = STEPS[event.key];
  if (step === undefined || !(event.target instanceof HTMLElement)) return;
  const next = step > 0 ? event.target.nextElementSibling : event.target.previousElementSibling;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

/**
 * The configuration that stands out on all nodes: that of the cell under the pointer or the focus, else `chosen`;
 * '': none. The events are for the element around all cells.
 */
export function useShown(chosen: string) {
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
