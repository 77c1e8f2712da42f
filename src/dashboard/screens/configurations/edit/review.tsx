/** Shows what saving changes, field by field, and what Drover will do then. */
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { text as parts } from '../../../parts/text.js';
import type { ConfigurationRow } from '../rows.js';
import { text } from '../text.js';
import type { Plan } from './content.js';

export interface ReviewProps {
  readonly name: string;
  readonly plan: Plan;
  readonly row: ConfigurationRow | undefined;
  readonly text: string;
  readonly isBusy: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
}

/** These take effect at once; other fields reach new instances only. */
const AT_ONCE: ReadonlySet<string> = new Set(['minimumServiceCount', 'maximumServiceCount']);

export function Review(props: ReviewProps) {
  const { name, plan, isBusy, onSave, onClose } = props;
  return (
    <Dialog title={text.review(name)} size="wide" onClose={onClose}>
      {effectsOf(props).map((effect) => (
        <p key={effect}>{effect}</p>
      ))}
      {plan.differences.length > 0 && <Differences differences={plan.differences} />}
      {plan.warnings.map(({ field, message }) => (
        <p key={field + message} class="editor-notice">
          {field}: {message}
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

function Differences({ differences }: { readonly differences: Plan['differences'] }) {
  return (
    <div class="differences-scroll">
      <table class="differences">
        <thead>
          <tr>
            <th>{text.field}</th>
            <th>{text.before}</th>
            <th>{text.after}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, before, after }) => (
            <tr key={field}>
              <td class="mono">{field}</td>
              <td class="mono difference-before">{before ?? text.notSet}</td>
              <td class="mono difference-after">{after ?? text.notSet}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function effectsOf({ plan: { change, differences }, row, text: content }: ReviewProps): string[] {
  const before = row?.entry?.configuration.minimumServiceCount;
  const after = minimumIn(content);
  if (change === 'created' || before === undefined) return [text.reviewNew, text.reviewStart(after)];
  const isOther = differences.some(({ field }) => !AT_ONCE.has(field));
  const instances = row?.instances ?? 0;
  return [
    ...(differences.length === 0 ? [text.reviewSame] : []),
    ...(before === after ? [] : [text.reviewCount(before, after)]),
    ...(isOther && instances > 0 ? [text.reviewOlder(instances)] : []),
  ];
}

/** The default is that of the schema. */
function minimumIn(content: string): number {
  const { minimumServiceCount: minimum }: { minimumServiceCount?: unknown } = JSON.parse(content);
  return typeof minimum === 'number' ? minimum : 1;
}
