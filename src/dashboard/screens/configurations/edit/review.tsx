/**
 * Shows the plan of a save: the changed fields, what happens to the instances, and which of them would find no node.
 */

import { shownPair, visibleText } from '../../../../model/plain/shown-pair.js';
import type { ChangePlan } from '../../../../operations/plan/change-plan.js';
import { NOTHING } from '../../../parts/amounts.js';
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { text as parts } from '../../../parts/text.js';
import '../../../parts/table/table.css';
import { text } from '../text.js';

interface ReviewProps {
  readonly name: string;
  readonly plan: ChangePlan;
  /** True when the text replaces that of a broken file. */
  readonly isMended: boolean;
  readonly isBusy: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
}

type Field = ChangePlan['configurations'][number]['fields'][number];
/** Fields that differ. A comparison of past contents has no `class`, and says nothing of when a field takes effect. */
type Fields = readonly (Omit<Field, 'class'> & Partial<Pick<Field, 'class'>>)[];

export function Review({ name, plan, isMended, isBusy, onSave, onClose }: ReviewProps) {
  return (
    <Dialog title={text.review(name)} size="wide" onClose={onClose}>
      {plan.configurations.map(({ action, why, fields }) => (
        <>
          {action === 'create' && <p>{isMended ? text.reviewMended : text.reviewNew}</p>}
          <p>{why}</p>
          {fields.length > 0 && <Differences fields={fields} />}
        </>
      ))}
      {plan.shortages.map(({ configurationName, wanted, missing, message }) => (
        <p key={configurationName} class="notice">
          {text.noRoom(wanted, missing)} <bdi>{message}</bdi>
        </p>
      ))}
      {plan.warnings.map(({ field, message }) => (
        <p key={`${field} ${message}`} class="notice">
          {field !== null && `${field}: `}
          {message}
        </p>
      ))}
      <div class="foot">
        <Button onPress={onClose}>{parts.goOnEditing}</Button>
        <Button kind="main" isBusy={isBusy} onPress={onSave}>
          {text.saveNow}
        </Button>
      </div>
    </Dialog>
  );
}

export function Differences({ fields }: { readonly fields: Fields }) {
  return (
    <div class="differences-scroll">
      <table class="table differences">
        <thead>
          <tr>
            <th>{text.field}</th>
            <th>{text.before}</th>
            <th>{text.after}</th>
            {fields[0]?.class !== undefined && <th>{text.takesEffect}</th>}
          </tr>
        </thead>
        <tbody>
          {fields.map(({ path, from, to, class: asks }) => {
            const [before, after] = shownPair(from, to, { isWhole: true });
            return (
              <tr key={path}>
                <td class="mono" data-label={text.field}>
                  {visibleText(path)}
                </td>
                <td class="mono difference-before" data-label={text.before}>
                  {before ?? NOTHING}
                </td>
                <td class="mono difference-after" data-label={text.after}>
                  {after ?? NOTHING}
                </td>
                {asks !== undefined && <td data-label={text.takesEffect}>{text.classes[asks]}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
