/** The editor, the list of faults, and the questions before a save. */
import { useSignal } from '@preact/signals';
import type { JudgedText } from '../../../../operations/configuration-content.js';
import type { ChangePlan } from '../../../../operations/plan/change-plan.js';
import { Button } from '../../../parts/button.js';
import type { Fault } from '../../../parts/editor/editor-setup.js';
import { TextForm, useSaved } from '../../../parts/editor/text-form.js';
import { Badge } from '../../../parts/state-badge.js';
import { text as parts } from '../../../parts/text.js';
import { useAsked, useServices } from '../../../services/services.js';
import type { ConfigurationRow } from '../rows.js';
import { text } from '../text.js';
import { readSchema } from './content.js';
import type { ConfigurationEditing } from './editing.js';
import { Fields } from './fields.js';
import { Review } from './review.js';

interface EditFormProps {
  readonly name: string;
  readonly editing: ConfigurationEditing;
  readonly row: ConfigurationRow | undefined;
  readonly isChangedMeanwhile: boolean;
  /** The place of the fault of a broken file: the editor begins there. */
  readonly fault: { readonly line: number | null; readonly column: number | null } | null;
}

export function EditForm({ name, editing, row, isChangedMeanwhile, fault }: EditFormProps) {
  const { router, session, toasts } = useServices();
  const goTo = useSignal<Pick<Fault, 'line' | 'column'> | null>(fault);
  const schema = useAsked((api, signal) => readSchema(api, signal), []).value;
  const finish = useSaved(text.saved(name));
  const judged = editing.judged.value;
  const review = async (): Promise<void> => {
    const problems = await toasts.run(editing.review());
    if (problems === undefined || problems === 0) return;
    const [first] = editing.judged.value?.problems ?? [];
    if (first !== undefined) goTo.value = { line: first.line, column: first.column };
    toasts.failed(new Error(text.notSaved(problems)));
  };
  /** Saves, and shows how the new content replaces instances, if it does. */
  const save = async ({ configurations }: ChangePlan): Promise<void> => {
    const isRolledOut = configurations.some(({ effects }) => effects.replace > 0);
    if ((await finish(editing.save())) && isRolledOut) router.go(['configurations', name]);
  };
  // Wait for the schema, so that completion works from the first letter. When the schema cannot be loaded, the
  // editor works without completion.
  if (schema.value === undefined && schema.error === null) return <p class="quiet">{parts.loading}</p>;
  const problems = judged?.problems.length;
  const plan = editing.plan.value;
  return (
    <div class="configuration-edit">
      <div class="stack">
        <TextForm
          editing={editing}
          editor={{
            label: text.editorLabel(name),
            language: 'json',
            isReadOnly: !session.can('CONFIGURE'),
            goTo: goTo.value,
            check: (typed) => editing.judge(typed),
            ...(schema.value !== undefined && { schema: schema.value }),
          }}
          name={name}
          isChangedMeanwhile={isChangedMeanwhile}
          about={
            problems !== undefined && (
              <Badge
                tone={problems === 0 ? 'good' : 'bad'}
                label={problems === 0 ? text.good : text.faults(problems)}
              />
            )
          }
          hint={text.editorKeys}
          save={text.save}
          canSave={editing.edited.isDirty.value || row?.entry == null}
          onSave={() => void review()}
          saved={text.saved(name)}
          difference="json"
        />
        {judged !== null && (
          <Faults
            judged={judged}
            onGo={(place) => {
              goTo.value = place;
            }}
          />
        )}
      </div>
      {session.can('CONFIGURE') && <Fields edited={editing.edited} />}
      {plan !== null && (
        <Review
          name={name}
          plan={plan}
          isMended={row?.entry == null && row?.health.state === 'broken-file'}
          isBusy={editing.isBusy.value}
          onSave={() => void save(plan)}
          onClose={() => editing.closeReview()}
        />
      )}
    </div>
  );
}

interface FaultsProps {
  readonly judged: JudgedText;
  readonly onGo: (place: Pick<Fault, 'line' | 'column'>) => void;
}

/**
 * The problems that keep the text from being saved, and the warnings about parts without effect. Each is a link to its
 * place in the text.
 */
function Faults({ judged: { problems, warnings }, onGo }: FaultsProps) {
  const lists = [
    { title: text.faultsTitle, faults: problems },
    { title: text.hintsTitle, faults: warnings },
  ].filter(({ faults }) => faults.length > 0);
  return lists.map(({ title, faults }) => (
    <section key={title} aria-label={title}>
      <h3>{title}</h3>
      <ul class="faults d-grid gap-1">
        {faults.map(({ line, column, field, message }) => (
          <li key={`${line} ${column} ${field} ${message}`} class="fault">
            {line !== null && (
              <Button kind="quiet" onPress={() => onGo({ line, column })}>
                {text.place(line, column ?? 1)}
              </Button>
            )}
            <span>
              {field !== '' && <strong class="mono">{field}</strong>} <bdi>{message}</bdi>
            </span>
          </li>
        ))}
      </ul>
    </section>
  ));
}
