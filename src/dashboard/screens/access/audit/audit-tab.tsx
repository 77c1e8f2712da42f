/** The latest entries of the audit trail, filtered in the page, and a line that says how far back they reach. */
import { useMemo } from 'preact/hooks';
import type { AuditEntry } from '../../../../model/audit.js';
import { Button } from '../../../parts/button.js';
import { FindInput, Select } from '../../../parts/form.js';
import { type Column, column, Grid, listRows } from '../../../parts/grid/grid.js';
import { Failure, NoRows } from '../../../parts/notes.js';
import { Badge } from '../../../parts/state-badge.js';
import { Time } from '../../../parts/time.js';
import { exactTime } from '../../../parts/times.js';
import { visibleText } from '../../../parts/words/visible-text.js';
import { useGot, useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { type AuditRow, filteredEntries, isDone, type ResultFilter } from './audit-filter.js';

/** The most entries that the API answers. */
const LIMIT = 1_000;
const RESULTS: readonly ResultFilter[] = ['', 'failed', 'done'];

const COLUMNS: readonly Column<AuditRow>[] = [
  column(text.when, 130, ({ entry }) => <Time at={entry.at} />, { phone: 'second' }),
  column(text.who, 150, ({ entry }) => <Who name={entry.key} />, { grow: 1, phone: 'second' }),
  column(text.action, 320, actionOf, { grow: 4, phone: 'first' }),
  column(text.address, 120, ({ entry }) => entry.address ?? <span class="quiet">{text.terminal}</span>),
  column(text.result, 100, resultOf, { phone: 'end' }),
];

function Who({ name }: { readonly name: string | null }) {
  if (name === null) return <span class="quiet">{text.nobody}</span>;
  // A session is named by whose it is.
  return <Words value={name.replace(/^session \S+ of /, '')} hint={name} />;
}

function actionOf({ entry: { action }, subjects, sentence }: AuditRow) {
  return <Words value={sentence} hint={`${action}: ${subjects.join(', ')}`} />;
}

function resultOf({ entry }: AuditRow) {
  return <Badge tone={isDone(entry) ? 'good' : 'bad'} label={entry.result} />;
}

/** Shows text that clients sent. It must not turn the direction of the row or hide a part of it. */
function Words({ value, hint }: { readonly value: string; readonly hint: string }) {
  return <bdi title={visibleText(hint)}>{visibleText(value)}</bdi>;
}

export function AuditTab() {
  const { router } = useServices();
  const { find = '', result: asked } = router.place.value.query;
  const result = RESULTS.find((one) => one === asked) ?? '';
  const trail = useGot<AuditEntry[]>('/audit', [], { limit: LIMIT });
  const { value, error, isAsking } = trail.value;
  const rows = useMemo(() => filteredEntries(value ?? [], find, result), [value, find, result]);
  return (
    <>
      <div class="bar">
        <FindInput label={text.find} hint={text.findHint} />
        <Select name="result" label={text.result} options={Object.entries(text.results)} />
        <Button isBusy={isAsking} onPress={trail.again}>
          {text.refresh}
        </Button>
      </div>
      {error !== null && <Failure error={error} onRetry={trail.again} />}
      {value !== undefined && <Reach entries={value} rows={rows} />}
      <Grid
        label={text.audit}
        columns={COLUMNS}
        rows={listRows(rows, ({ key }) => key)}
        empty={
          <NoRows
            text={text}
            isLoaded={value !== undefined}
            isFiltered={(value?.length ?? 0) > 0}
            onClear={() => router.set({ find: undefined, result: undefined })}
          />
        }
      />
    </>
  );
}

function Reach({
  entries,
  rows,
}: {
  readonly entries: readonly AuditEntry[];
  readonly rows: readonly AuditRow[];
}) {
  const [oldest] = entries;
  if (oldest === undefined) return null;
  const shown = rows.reduce((sum, { subjects }) => sum + Math.max(1, subjects.length), 0);
  return (
    <p class="quiet">
      {text.reach(shown, entries.length, exactTime(oldest.at))} {entries.length === LIMIT && text.older}
    </p>
  );
}
