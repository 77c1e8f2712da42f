/** The last contents of a configuration: who brought each, how it ended, how it differs, and the way back to it. */
import { useSignal } from '@preact/signals';
import type { ContentDiff, PastContent } from '../../../operations/rollouts/configuration-history.js';
import { apiPath } from '../../api/api-client.js';
import { count, NOTHING } from '../../parts/amounts.js';
import { DialogButton, FormDialog } from '../../parts/dialog.js';
import { TextInput } from '../../parts/form.js';
import { Failure } from '../../parts/notes.js';
import { AskedTable, type TableColumn } from '../../parts/table/table.js';
import { text as parts } from '../../parts/text.js';
import { Time } from '../../parts/time.js';
import { useGot, useServices } from '../../services/services.js';
import { Differences } from './edit/review.js';
import { text as texts } from './text.js';

const text = texts.history;

const COLUMNS: readonly TableColumn<PastContent>[] = [
  { label: text.number, cell: ({ number }) => number },
  { label: text.age, cell: ({ at }) => (at === null ? NOTHING : <Time at={at} />) },
  { label: text.who, cell: ({ key, file }) => <bdi>{key ?? file}</bdi> },
  {
    label: text.outcome,
    cell: ({ outcome, reason, isInForce }) => (
      <bdi>
        {isInForce ? text.outcomes['in-force'] : text.outcomes[outcome]}
        {reason !== null && `: ${reason}`}
      </bdi>
    ),
  },
  { label: text.instances, cell: ({ instances }) => count(instances) },
];

interface HistoryTabProps {
  readonly name: string;
  /** The tab asks again when one of these values changes. */
  readonly keys: readonly unknown[];
}

export function HistoryTab({ name, keys }: HistoryTabProps) {
  const { session } = useServices();
  const asked = useGot<PastContent[]>(apiPath('configurations', name, 'history'), keys);
  const contents = asked.value.value ?? [];
  const [newest] = contents;
  const inForce = contents.find(({ isInForce }) => isInForce);
  return (
    <AskedTable
      asked={asked}
      empty={null}
      label={texts.tabHistory}
      columns={COLUMNS}
      keyOf={({ number }) => String(number)}
      actions={(content) =>
        session.can('OPERATE') &&
        newest !== undefined &&
        inForce !== undefined &&
        // The content of the file comes back with "Try again", and the one in force only after a failed rollout.
        content !== newest &&
        (content !== inForce || content.isRollbackTarget) && (
          <DialogButton
            kind={content.isRollbackTarget ? 'main' : 'normal'}
            dialog={(onClose) => (
              <RollBack
                {...{ name, content, from: (content === inForce ? newest : inForce).number }}
                onDone={asked.again}
                onClose={onClose}
              />
            )}
          >
            {text.rollBack}
          </DialogButton>
        )
      }
    />
  );
}

/** The numbers of the content that instances have, and of the one that they would get. */
interface Pair {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface RollBackProps extends Pick<Pair, 'name' | 'from'> {
  readonly content: PastContent;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function RollBack({ name, from, content, onDone, onClose }: RollBackProps) {
  const { api, toasts } = useServices();
  const { number: to, outcome } = content;
  const reason = useSignal('');
  const rollBack = async (): Promise<void> => {
    const body = { to, reason: reason.value.trim() || undefined };
    await api.post(apiPath('configurations', name, 'rollback'), { body });
    toasts.done(text.done(name, to));
    onDone();
    onClose();
  };
  return (
    <FormDialog title={text.title(name, to)} action={text.rollBack} onSubmit={rollBack} onClose={onClose}>
      <p>{text.plan(to)}</p>
      {(outcome === 'failed' || outcome === 'rolled-back') && <p>{text.wasNotGood}</p>}
      <Difference {...{ name, from, to }} />
      <TextInput label={text.reason} value={reason} />
    </FormDialog>
  );
}

/** The fields that differ. */
function Difference({ name, from, to }: Pair) {
  const query = { from, to, values: true };
  const asked = useGot<ContentDiff>(apiPath('configurations', name, 'history', 'diff'), [], query);
  const { value, error } = asked.value;
  if (error !== null) return <Failure error={error} onRetry={asked.again} />;
  if (value === undefined) return <p class="quiet">{parts.loading}</p>;
  if (value.differences.length === 0) return <p>{text.same}</p>;
  const fields = value.differences.map(({ field: path, before: from, after: to }) => ({ path, from, to }));
  return <Differences fields={fields} />;
}
