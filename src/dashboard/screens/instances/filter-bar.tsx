/**
 * The bars above the table: search, states, groups and columns, and the actions on the selected instances. On a phone, a
 * button opens all filters but the search.
 */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../model/instance.js';
import { count } from '../../parts/amounts.js';
import { Button, ButtonLink, putting } from '../../parts/button.js';
import { FindInput, Select } from '../../parts/form.js';
import { Icon } from '../../parts/icon.js';
import type { Asked } from '../../parts/instances/asked-dialog.js';
import { COLUMN_IDS } from '../../parts/instances/columns.js';
import { text as columns } from '../../parts/instances/text.js';
import { Menu } from '../../parts/menu.js';
import { INSTANCE_ACTIONS } from '../../parts/pending-actions.js';
import { Dot, toneOf } from '../../parts/state-badge.js';
import { text as parts } from '../../parts/text.js';
import { usePhone } from '../../parts/use-phone.js';
import type { QueryChanges } from '../../router/place.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';
import { columnsQuery, GROUPS, type InstancesView, STATES } from './view.js';

interface FilterBarProps {
  readonly view: InstancesView;
  /** How many instances are in each state. */
  readonly counts: Readonly<Record<InstanceInfo['state'], number>>;
  readonly onChange: (changes: QueryChanges) => void;
}

export function FilterBar({ view, counts, onChange }: FilterBarProps) {
  const isPhone = usePhone().value;
  const isOpen = useSignal(false);
  return (
    <div class="bar filter-bar">
      <FindInput label={text.search} hint={text.searchHint} />
      {isPhone && (
        <Button isExpanded={isOpen.value} onPress={putting(isOpen, !isOpen.value)}>
          {text.filter}
        </Button>
      )}
      {(!isPhone || isOpen.value) && <Choices view={view} counts={counts} onChange={onChange} />}
    </div>
  );
}

function Choices({ view, counts, onChange }: FilterBarProps) {
  return (
    <>
      <div class="inline" role="group" aria-label={text.state}>
        {STATES.filter((state) => counts[state] > 0 || view.state === state).map((state) => (
          <Button
            key={state}
            isPressed={view.state === state}
            onPress={() => onChange({ state: view.state === state ? undefined : state })}
          >
            <Dot tone={toneOf(state)} />
            {parts.states[state]} <span class="quiet">{count(counts[state])}</span>
          </Button>
        ))}
      </div>
      <Select
        name="group"
        label={text.group}
        options={[['', text.noGroup], ...GROUPS.map((group) => [group, columns.label[group]] as const)]}
      />
      <div class="bar-end">
        <Menu
          label={text.columns}
          items={[
            {
              label: text.compact,
              isChecked: view.isDense,
              onPress: () => onChange({ rows: view.isDense ? undefined : 'compact' }),
            },
            ...COLUMN_IDS.filter((id) => id !== 'id').map((id) => ({
              label: columns.label[id],
              isChecked: view.columns.includes(id),
              onPress: () => onChange(columnsQuery(view, id)),
            })),
          ]}
        />
      </div>
    </>
  );
}

interface BulkProps {
  readonly chosen: readonly InstanceInfo[];
  readonly onAsk: (asked: Asked) => void;
  readonly onClear: () => void;
}

/** Start, stop, restart and delete of the selected instances. */
export function Bulk({ chosen, onAsk, onClear }: BulkProps) {
  // The wall shows the first of them, and says of how many.
  const ids = chosen.slice(0, 200).map(({ id }) => id);
  return (
    <div class="inline bulk">
      <strong>{text.chosen(chosen.length)}</strong>
      {INSTANCE_ACTIONS.map((action) => (
        <Button
          key={action}
          kind={action === 'delete' ? 'risky' : 'normal'}
          onPress={() => onAsk({ action, instances: chosen })}
        >
          <Icon name={action} />
          {parts.action[action]}
        </Button>
      ))}
      <ButtonLink href={hrefOf(['wall'], { find: ids.join(' ') })}>{text.log}</ButtonLink>
      <Button kind="quiet" onPress={onClear}>
        {text.clear}
      </Button>
    </div>
  );
}
