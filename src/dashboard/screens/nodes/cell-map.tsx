/**
 * The instances of a node as a treemap by RAM: colour and shape say the state, and the rest of the area is free. Instances
 * of the shown configuration stand out. The map is a single Tab stop: arrow keys move in it, Enter opens an instance.
 */

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { InstanceInfo } from '../../../model/instance.js';
import { megabytes, plural } from '../../parts/amounts.js';
import { Dot, toneOf } from '../../parts/state-badge.js';
import { text as parts } from '../../parts/text.js';
import { hrefOf } from '../../router/place.js';
import type { NodeEntry } from './node.js';
import { text } from './text.js';
import { type Area, treemap } from './treemap.js';

interface CellMapProps {
  readonly node: NodeEntry;
  readonly instances: readonly InstanceInfo[];
  /** How many instances of the node have no cell here. */
  readonly more: number;
  /** The configuration whose instances stand out; '': none. */
  readonly shown: string;
  /** The width of the map by its height. */
  readonly ratio: number;
}

export function CellMap({ node, instances, more, shown, ratio }: CellMapProps) {
  const { resources, capacity, nodeId } = node;
  const sorted = instances.toSorted((a, b) => b.allocatedRamMB - a.allocatedRamMB);
  const sizes = sorted.map(({ allocatedRamMB }) => Math.max(1, allocatedRamMB));
  const held = sizes.reduce((sum, size) => sum + size, 0);
  const rest = more > 0 ? Math.max(1, resources.usedRamMB - held) : 0;
  const free = Math.max(0, capacity.maxRamMB - Math.max(held + rest, resources.usedRamMB));
  const areas = treemap(
    [...sizes, rest, free].filter((size) => size > 0),
    ratio,
  );
  return (
    <div class="cells" role="group" aria-label={text.cells(nodeId)} onKeyDown={moveFocus}>
      {sorted.map((instance, place) => (
        <Cell
          key={instance.id}
          instance={instance}
          area={areas[place]}
          isOther={shown !== '' && shown !== instance.configurationName}
          isFirst={place === 0}
        />
      ))}
      {rest > 0 && <Part area={areas[sorted.length]} words={text.more(more)} style="tone-good" />}
      {free > 0 && <Part area={areas.at(-1)} words={text.free(megabytes(free))} style="cell-free" />}
    </div>
  );
}

/** A part of the map that is no instance. */
function Part(props: { readonly area: Area | undefined; readonly words: string; readonly style: string }) {
  return (
    <span class={`cell ${props.style}`} style={styleOf(props.area)}>
      <span class="cut cell-words">{props.words}</span>
    </span>
  );
}

function styleOf(area: Area | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(area ?? {}).map(([side, value]) => [side, `${value}%`]));
}

interface CellProps {
  readonly instance: InstanceInfo;
  readonly area: Area | undefined;
  readonly isOther: boolean;
  readonly isFirst: boolean;
}

function Cell({ instance, area, isOther, isFirst }: CellProps) {
  const { id, configurationName, state, message, players, allocatedRamMB } = instance;
  const tone = toneOf(state);
  const words = [
    `${configurationName} ${id}: ${parts.states[state]}`,
    ...(players === null ? [] : [plural(players, 'player')]),
    megabytes(allocatedRamMB),
    ...(message === null ? [] : [message]),
  ].join(', ');
  return (
    <a
      class={`cell tone-${tone}${isOther ? ' cell-other' : ''}`}
      href={hrefOf(['instances', id])}
      style={styleOf(area)}
      title={words}
      tabIndex={isFirst ? 0 : -1}
      data-configuration={configurationName}
    >
      {tone !== 'good' && <Dot tone={tone} />}
      <span class="cut cell-words" aria-hidden="true">
        {configurationName}
        {(players ?? 0) > 0 && ` · ${players}`}
      </span>
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
 * '': none. `words`: about the cell itself. The events are for the element around all cells.
 */
export function useShown(chosen: string) {
  const pointed = useSignal('');
  const words = useSignal('');
  const events = useMemo(() => {
    const follow = (event: Event): void => {
      const cell = event.target instanceof Element ? event.target.closest('[data-configuration]') : null;
      pointed.value = cell?.getAttribute('data-configuration') ?? '';
      words.value = cell?.getAttribute('title') ?? '';
    };
    const end = (): void => {
      pointed.value = words.value = '';
    };
    return { onPointerOver: follow, onPointerLeave: end, onFocusIn: follow, onFocusOut: end };
  }, [pointed, words]);
  return { name: pointed.value === '' ? chosen : pointed.value, words: words.value, events };
}
