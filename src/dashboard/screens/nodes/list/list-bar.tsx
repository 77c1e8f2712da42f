/** Search, order, and the configuration that is shown on all nodes. */
import { Select } from '../../../parts/form.js';
import { SearchInput } from '../../../parts/search-input.js';
import { Badge, toneOf } from '../../../parts/state-badge.js';
import { text as parts } from '../../../parts/text.js';
import { useServices } from '../../../services/services.js';
import { useEntries } from '../../../services/use-live.js';
import type { PlacedCells } from '../cells.js';
import { isSort, type NodesView } from '../node.js';
import { text } from '../text.js';

interface ListBarProps {
  readonly view: NodesView;
  /** The configuration that is shown now; '': none. */
  readonly shown: string;
  readonly cells: PlacedCells;
}

const STATES = ['ONLINE', 'CREATING', 'OFFLINE', 'STOPPED'] as const;

export function ListBar({ view, shown, cells }: ListBarProps) {
  const { router } = useServices();
  const names = [...useEntries('configurations').keys()].sort();
  // A deleted configuration may still have instances, and the address may still name it.
  if (view.configuration !== '' && !names.includes(view.configuration)) names.push(view.configuration);
  return (
    <div class="bar">
      <SearchInput
        class="find"
        label={text.find}
        hint={text.findHint}
        value={view.find}
        onInput={(find) => router.set({ find: find || undefined })}
      />
      <Select
        label={text.sort}
        value={view.sort}
        options={Object.entries(text.sorts).map(([value, label]) => ({ value, label }))}
        onChange={(sort) => isSort(sort) && router.set({ sort })}
      />
      <Select
        label={text.show}
        value={view.configuration}
        options={[{ value: '', label: text.showAll }, ...names.map((name) => ({ value: name, label: name }))]}
        onChange={(configuration) => router.set({ configuration: configuration || undefined })}
      />
      <p class="node-legend quiet">
        {shown === '' ? (
          <span title={text.pointAt}>
            {STATES.map((state) => (
              <Badge key={state} tone={toneOf(state)} label={parts.states[state]} />
            ))}
          </span>
        ) : (
          <Everywhere shown={shown} cells={cells} />
        )}
      </p>
    </div>
  );
}

function Everywhere({ shown, cells }: Pick<ListBarProps, 'shown' | 'cells'>) {
  const { instances, nodes } = cells.everywhere(shown);
  return <strong>{text.everywhere(shown, instances, nodes)}</strong>;
}
