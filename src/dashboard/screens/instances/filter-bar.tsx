/** Search, state, groups, order and columns of the table. On a phone, a button opens all of them but the search. */
import { useSignal } from '@preact/signals';
import { Button } from '../../parts/button.js';
import { FindInput, Select } from '../../parts/form.js';
import { Menu } from '../../parts/menu.js';
import { text as parts } from '../../parts/text.js';
import { usePhone } from '../../parts/use-phone.js';
import type { QueryChanges } from '../../router/place.js';
import { COLUMN_IDS, isColumn } from './columns.js';
import { text } from './text.js';
import { columnsQuery, GROUPS, type InstancesView, STATES, sortQuery } from './view.js';

interface FilterBarProps {
  readonly view: InstancesView;
  readonly onChange: (changes: QueryChanges) => void;
}

export function FilterBar({ view, onChange }: FilterBarProps) {
  const isPhone = usePhone().value;
  const isOpen = useSignal(false);
  return (
    <div class="bar filter-bar">
      <FindInput label={text.search} hint={text.searchHint} />
      {isPhone && (
        <Button
          isExpanded={isOpen.value}
          onPress={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          {text.filter}
        </Button>
      )}
      {(!isPhone || isOpen.value) && <Choices view={view} onChange={onChange} isPhone={isPhone} />}
    </div>
  );
}

function Choices({ view, onChange, isPhone }: FilterBarProps & { readonly isPhone: boolean }) {
  return (
    <>
      <Select
        label={text.state}
        value={view.state}
        options={[
          { value: '', label: text.allStates },
          ...STATES.map((state) => ({ value: state, label: parts.states[state] })),
        ]}
        onChange={(state) => onChange({ state: state || undefined })}
      />
      <Select
        label={text.group}
        value={view.groupBy}
        options={[
          { value: '', label: text.noGroup },
          ...GROUPS.map((group) => ({ value: group, label: text.label[group] })),
        ]}
        onChange={(group) => onChange({ group: group || undefined })}
      />
      {isPhone && <Order view={view} onChange={onChange} />}
      <div class="bar-end">
        <Menu
          label={text.columns}
          items={COLUMN_IDS.filter((id) => id !== 'id').map((id) => ({
            label: text.label[id],
            isChecked: view.columns.includes(id),
            onPress: () => onChange(columnsQuery(view, id)),
          }))}
        />
      </div>
    </>
  );
}

/** A menu for the order, on a phone only: on wider pages the heads of the columns sort. */
function Order({ view, onChange }: FilterBarProps) {
  return (
    <>
      <Select
        label={text.sort}
        value={view.sort}
        options={COLUMN_IDS.map((id) => ({ value: id, label: text.label[id] }))}
        onChange={(id) => isColumn(id) && onChange({ sort: id })}
      />
      <Button isPressed={view.isDescending} onPress={() => onChange(sortQuery(view, view.sort))}>
        {text.descending}
      </Button>
    </>
  );
}
